// Descriptions are the same text whatever compiler found them: files and peers compare them. A change of one
// of them needs a decision record that says why.
#include <ouro/base/field_info.hpp>
#include <ouro/base/fixed_string.hpp>
#include <ouro/base/type_name.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace outer::inner {

template <class T, std::size_t kSize>
struct Ring {
    std::array<T, kSize> slots;
};
struct Named {
    struct Part {
        std::uint8_t first;
    };
    Part part;
};

}  // namespace outer::inner

namespace {

using outer::inner::Named;
using outer::inner::Ring;

struct Relation {};
enum class Mood : std::int16_t { calm, cross = 7 };
enum Plain : std::uint32_t { plain_one };

struct Vec2 {
    float x, y;
};
struct Cell {
    std::uint16_t id;
    Mood mood;
    Vec2 corners[2];
};
struct Body {
    Vec2 at;
    std::array<Cell, 2> cells;
    double weights[2][3];
    ouro::Handle<Body> parent;
    ouro::Handle<Body, std::uint32_t, 20> short_handles[2];
    ouro::FixedString<15> name;
    ouro::OffsetPtr<Body> next;
    Plain plain;
    bool is_awake, flags_[3];
    char text[4];
    std::byte raw[4];
    std::int8_t i8;
    unsigned char u8;
    char16_t c16;
    std::int64_t i64;
    long long also_i64;
    std::uint64_t u64;
};
struct Many {
    Vec2 listed[2][2];
    Vec2 summed_up[1000];
};

// Says by itself that it is one.
template <class T>
class Angle {
public:
    [[nodiscard]] std::uint32_t turns() const { return turns_; }

private:
    std::uint32_t turns_ = 0;
};
struct Holder {
    Angle<std::uint64_t> angles[2];
};

template <class...>
struct Pack {};
template <class T, class U = T, unsigned kBits = sizeof(T) / 2>
struct Defaulted {};
template <auto... kValues>
struct Values {};

}  // namespace

template <class T>
inline constexpr bool ouro::kIsSimValue<Angle<T>> = true;

namespace {

std::string hex(std::uint64_t value) {
    std::string text(16, '0');
    for (std::size_t i = 0; i < 16; ++i)
        text[15 - i] = "0123456789abcdef"[value >> (4 * i) & 15];
    return text;
}

template <class T>
std::string describe() {
    std::string text = std::string(ouro::type_name<T>()) + " " + hex(ouro::layout_hash_of<T>()) + "\n";
    for (const ouro::FieldInfo& field : ouro::fields_of<T>())
        text += "  " + std::string(field.name) + " " + std::to_string(static_cast<unsigned>(field.kind)) +
                " @" + std::to_string(field.offset) + " " + std::to_string(field.element_bytes) + "x" +
                std::to_string(field.count) + "\n";
    return text;
}

constexpr std::string_view kBody = R"(Body 66bf45f639b14dae
  at.x 4 @0 4x1
  at.y 4 @4 4x1
  cells[0].id 3 @8 2x1
  cells[0].mood 2 @10 2x1
  cells[0].corners[0].x 4 @12 4x1
  cells[0].corners[0].y 4 @16 4x1
  cells[0].corners[1].x 4 @20 4x1
  cells[0].corners[1].y 4 @24 4x1
  cells[1].id 3 @28 2x1
  cells[1].mood 2 @30 2x1
  cells[1].corners[0].x 4 @32 4x1
  cells[1].corners[0].y 4 @36 4x1
  cells[1].corners[1].x 4 @40 4x1
  cells[1].corners[1].y 4 @44 4x1
  weights 4 @48 8x6
  parent 6 @96 8x1
  short_handles 6 @104 4x2
  name 5 @112 16x1
  next 7 @128 4x1
  plain 3 @132 4x1
  is_awake 0 @136 1x1
  flags_ 0 @137 1x3
  text 1 @140 1x4
  raw 3 @144 1x4
  i8 2 @148 1x1
  u8 3 @149 1x1
  c16 1 @150 2x1
  i64 2 @152 8x1
  also_i64 2 @160 8x1
  u64 3 @168 8x1
)";

constexpr std::string_view kOthers = R"(Cell 5f8b3fc7c9096681
  id 3 @0 2x1
  mood 2 @2 2x1
  corners[0].x 4 @4 4x1
  corners[0].y 4 @8 4x1
  corners[1].x 4 @12 4x1
  corners[1].y 4 @16 4x1
Many 11c6996f9fa026ff
  listed[0][0].x 4 @0 4x1
  listed[0][0].y 4 @4 4x1
  listed[0][1].x 4 @8 4x1
  listed[0][1].y 4 @12 4x1
  listed[1][0].x 4 @16 4x1
  listed[1][0].y 4 @20 4x1
  listed[1][1].x 4 @24 4x1
  listed[1][1].y 4 @28 4x1
  summed_up 8 @32 8x1000
Holder 01caa386b1dae45c
  angles 8 @0 4x2
Named e30670eef5304601
  part.first 3 @0 1x1
Relation 5692161d100b05e5
u8 5fd607aee90c4d85
  value 3 @0 1x1
Mood 4767790fba092006
  value 2 @0 2x1
array<Vec2, 2> e662a23a18671800
  value[0].x 4 @0 4x1
  value[0].y 4 @4 4x1
  value[1].x 4 @8 4x1
  value[1].y 4 @12 4x1
FixedString<31> d840499b3a34f7b3
  value 5 @0 32x1
Ring<i64, 12> 68d4b5bfcbb43a2e
  slots 2 @0 8x12
)";

TEST(FieldGolden, AStructOfEveryKindOfField) {
    EXPECT_EQ(describe<Body>(), kBody);
}

TEST(FieldGolden, TypesOfOtherShapes) {
    const std::string found = describe<Cell>() + describe<Many>() + describe<Holder>() + describe<Named>() +
                              describe<Relation>() + describe<std::uint8_t>() + describe<Mood>() +
                              describe<std::array<Vec2, 2>>() + describe<ouro::FixedString<31>>() +
                              describe<Ring<std::int64_t, 12>>();
    EXPECT_EQ(found, kOthers);
}

TEST(FieldGolden, NamesOfTypes) {
    struct Local {};
    EXPECT_EQ(ouro::type_name<bool>(), "bool");
    EXPECT_EQ(ouro::type_name<char>(), "char");
    EXPECT_EQ(ouro::type_name<char32_t>(), "char32_t");
    using Integers = Pack<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                          std::int64_t, std::uint64_t, long long, unsigned long long>;
    EXPECT_EQ(ouro::type_name<Integers>(), "Pack<i8, u8, i16, u16, i32, u32, i64, u64, i64, u64>");
    using Others = Pack<float, double, bool, char, const Mood, std::byte, Vec2*, const Vec2&, int[3]>;
    EXPECT_EQ(ouro::type_name<Others>(),
              "Pack<f32, f64, bool, char, const Mood, byte, Vec2*, const Vec2&, i32[3]>");
    EXPECT_EQ(ouro::type_name<Named::Part>(), "Part");
    EXPECT_EQ(ouro::type_name<Local>(), "Local");
    EXPECT_EQ(ouro::type_name<Pack<>>(), "Pack<>");
    using Nested = Ring<Ring<Pack<Named::Part>, 2>, 3>;
    EXPECT_EQ(ouro::type_name<Nested>(), "Ring<Ring<Pack<Part>, 2>, 3>");
    EXPECT_EQ(ouro::type_name<Defaulted<Vec2>>(), "Defaulted<Vec2>");
    using Given = Defaulted<Vec2, Relation, 9>;
    EXPECT_EQ(ouro::type_name<Given>(), "Defaulted<Vec2, Relation, 9>");
    EXPECT_EQ(ouro::type_name<ouro::Handle<Relation>>(), "Handle<Relation>");
    using Numbers = Values<1U, -2, 3LL, true, 'a', Mood::cross, Mood{5}, UINT64_MAX>;
    EXPECT_EQ(ouro::type_name<Numbers>(), "Values<1, -2, 3, true, 'a', cross, 5, 18446744073709551615>");
    EXPECT_EQ(ouro::type_name<Named>().data()[5], '\0');
}

}  // namespace
