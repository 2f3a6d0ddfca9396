// What a value is made of, against what the language says itself. That all compilers say the same is in
// field_golden_test.cpp.
#include <ouro/base/field_info.hpp>
#include <ouro/base/fixed_string.hpp>
#include <ouro/base/type_name.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <gtest/gtest.h>

namespace {

using ouro::FieldInfo;
using ouro::FieldKind;
using ouro::fields_of;
using ouro::layout_hash_of;

struct Vec2 {
    float x, y;
};
struct Body {
    Vec2 at;
    std::uint32_t ids[3];
    bool is_awake;
    char letters[3];
    ouro::FixedString<7> name;
    Vec2 corners[12];
};
struct ThirtyTwo {
    std::int32_t a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, a1, b1, c1, d1,
        e1, f1;
};
struct Tag {};

const FieldInfo* find(std::span<const FieldInfo> fields, std::string_view name) {
    const auto found = std::ranges::find(fields, name, &FieldInfo::name);
    return found == fields.end() ? nullptr : &*found;
}

// All of it is known when compiling.
static_assert(fields_of<Vec2>().size() == 2 && fields_of<Vec2>()[1].name == "y");
static_assert(fields_of<Vec2>()[1].offset == 4 && layout_hash_of<Vec2>() != 0);
static_assert(ouro::type_name<Vec2>() == "Vec2");
static_assert(fields_of<Tag>().empty() && fields_of<std::array<float, 4>>()[0].count == 4);

TEST(FieldInfo, OffsetsAreThoseOfTheLanguage) {
    const auto fields = fields_of<Body>();
    ASSERT_NE(find(fields, "at.y"), nullptr);
    EXPECT_EQ(find(fields, "at.y")->offset, offsetof(Body, at) + offsetof(Vec2, y));
    ASSERT_NE(find(fields, "ids"), nullptr);
    EXPECT_EQ(find(fields, "ids")->offset, offsetof(Body, ids));
    EXPECT_EQ(find(fields, "ids")->kind, FieldKind::unsigned_integer);
    EXPECT_EQ(find(fields, "ids")->count, 3U);
    ASSERT_NE(find(fields, "letters"), nullptr);
    EXPECT_EQ(find(fields, "letters")->offset, offsetof(Body, letters));
    ASSERT_NE(find(fields, "name"), nullptr);
    EXPECT_EQ(find(fields, "name")->offset, offsetof(Body, name));
    EXPECT_EQ(find(fields, "name")->kind, FieldKind::text);
    ASSERT_NE(find(fields, "corners[11].x"), nullptr);
    EXPECT_EQ(find(fields, "corners[11].x")->offset, offsetof(Body, corners) + 11 * sizeof(Vec2));
}

TEST(FieldInfo, EveryByteBelongsToOneField) {
    const auto check = [](std::span<const FieldInfo> fields, std::size_t size) {
        std::size_t next = 0;
        for (const FieldInfo& field : fields) {
            EXPECT_EQ(field.offset, next) << field.name;
            EXPECT_EQ(field.name.data()[field.name.size()], '\0');
            next += std::size_t{field.element_bytes} * field.count;
        }
        EXPECT_EQ(next, size);
    };
    check(fields_of<Body>(), sizeof(Body));
    check(fields_of<ThirtyTwo>(), sizeof(ThirtyTwo));
    check(fields_of<Body[2][3]>(), sizeof(Body[2][3]));
    check(fields_of<std::array<ThirtyTwo, 8>>(), sizeof(ThirtyTwo) * 8);
    check(fields_of<std::array<ThirtyTwo, 9>>(), sizeof(ThirtyTwo) * 9);
    check(fields_of<double>(), sizeof(double));
    EXPECT_EQ(fields_of<ThirtyTwo>()[31].name, "f1");
}

TEST(FieldInfo, LargeArraysOfStructsAreOneField) {
    EXPECT_EQ(fields_of<Vec2[128]>().size(), 256U);
    EXPECT_EQ(fields_of<Vec2[128]>().back().name, "value[127].y");
    const auto fields = fields_of<Vec2[129]>();
    ASSERT_EQ(fields.size(), 1U);
    EXPECT_EQ(fields[0].kind, FieldKind::opaque);
    EXPECT_EQ(fields[0].element_bytes, sizeof(Vec2));
    EXPECT_EQ(fields[0].count, 129U);
}

class Turns {
public:
    [[nodiscard]] std::uint32_t count() const { return count_; }

private:
    std::uint32_t count_ = 0;
};
class Steps : public Turns {};

}  // namespace

template <>
inline constexpr bool ouro::kIsSimValue<Turns> = true;
template <>
inline constexpr bool ouro::kIsSimValue<Steps> = true;

namespace {

struct Renamed {
    float x, z;
};
struct Swapped {
    float y, x;
};
struct OtherKind {
    float x;
    std::int32_t y;
};
struct OtherSign {
    float x;
    std::uint32_t y;
};
struct Wider {
    double x, y;
};
struct Array {
    float x, y[2];
};
struct More {
    float x, y, z;
};
struct Inside {
    Vec2 x;
};
struct OtherInside {
    Renamed x;
};
struct Large {
    Vec2 x[1000];
};
struct OtherLarge {
    Renamed x[1000];
};

TEST(FieldInfo, LayoutHashSeesEachDifference) {
    struct Same {
        float x, y;
    };
    EXPECT_EQ(layout_hash_of<Vec2>(), layout_hash_of<Same>());
    const std::uint64_t hashes[] = {
        layout_hash_of<Vec2>(),
        layout_hash_of<Renamed>(),
        layout_hash_of<Swapped>(),
        layout_hash_of<OtherKind>(),
        layout_hash_of<OtherSign>(),
        layout_hash_of<Wider>(),
        layout_hash_of<Array>(),
        layout_hash_of<More>(),
        layout_hash_of<Inside>(),
        layout_hash_of<OtherInside>(),
        layout_hash_of<Large>(),
        layout_hash_of<OtherLarge>(),
        layout_hash_of<Tag>(),
        layout_hash_of<Turns>(),
        layout_hash_of<Steps>(),
        layout_hash_of<ouro::Handle<Tag>>(),
        layout_hash_of<ouro::Handle<Tag, std::uint64_t, 20>>(),
        layout_hash_of<std::uint64_t>(),
    };
    for (const std::uint64_t& hash : hashes)
        EXPECT_EQ(std::ranges::count(hashes, hash), 1) << &hash - hashes;
}

}  // namespace
