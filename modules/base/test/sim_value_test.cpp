// What can be simulation state, told when compiling. The messages are tested where compiling fails:
// tests/rejections.
#include <ouro/base/fixed_string.hpp>
#include <ouro/base/sim_value.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

namespace {

using ouro::FixedString;
using ouro::Handle;
using ouro::kSimValueFault;
using ouro::OffsetPtr;
using ouro::SimKey;
using ouro::SimValue;
using enum ouro::SimValueFault;

enum class Mood : std::uint8_t { calm };

struct Plain {
    std::int32_t kind;
    float weights[3];
    double value;
};
struct Nested {
    Plain plain;
    std::array<Plain, 2> more;
    OffsetPtr<Plain> next;
    std::uint32_t matrix[2][3];
    std::uint32_t last;
    Handle<Plain> handle;
    FixedString<15> name;
};
struct Bytes {
    Mood mood;
    bool is_awake;
    std::uint16_t steps;
    std::byte rest[4];
};
struct Large {
    char text[4096];
    std::int32_t length;
};
struct ThirtyTwo {
    std::int32_t a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, a1, b1, c1, d1,
        e1, f1;
};
static_assert(SimValue<std::int8_t> && SimValue<std::uint64_t> && SimValue<bool> && SimValue<char>);
static_assert(SimValue<float> && SimValue<double> && SimValue<Mood> && SimValue<std::byte>);
static_assert(SimValue<long long> && SimValue<char32_t> && SimValue<std::array<float, 4>>);
static_assert(SimValue<Plain> && SimValue<Nested> && SimValue<Bytes> && SimValue<Large> &&
              SimValue<ThirtyTwo>);
static_assert(SimValue<Plain[3]> && SimValue<OffsetPtr<int>> && SimValue<Handle<int>>);

struct Gap {
    std::int32_t kind;
    double value;
};
struct Tail {
    double value;
    std::int32_t kind;
};
struct Inside {
    Plain plain;
    std::array<Gap, 2> gaps;
};
struct BitFields {
    std::uint32_t low : 3;
    std::uint32_t high : 29;
};
// As large as their fields would be without the bits, and yet with gaps.
struct BitFieldsAndGap {
    std::uint8_t low : 4;
    std::uint8_t high : 4;
    std::uint16_t count;
};
struct BitFieldsAndFloat {
    std::uint32_t low : 16;
    std::uint32_t high : 16;
    double value;
};
struct OneBitField {
    std::uint32_t low : 5;
};
struct HoldsBitFields {
    float value;
    std::array<OneBitField, 2> bits;
};
static_assert(kSimValueFault<BitFieldsAndGap> == padding && kSimValueFault<BitFieldsAndFloat> == padding);
static_assert(kSimValueFault<OneBitField> == padding && kSimValueFault<HoldsBitFields> == padding);
static_assert(kSimValueFault<Gap> == padding && kSimValueFault<Tail> == padding);
static_assert(kSimValueFault<Inside> == padding && kSimValueFault<BitFields> == padding);

struct Pointer {
    std::uint64_t id;
    Plain* target;
};
struct Callback {
    void (*function)();
};
struct MemberPointer {
    float Gap::* member;
};
static_assert(kSimValueFault<Pointer> == address && kSimValueFault<Callback> == address);
static_assert(kSimValueFault<MemberPointer> == address && kSimValueFault<int*> == address);
static_assert(kSimValueFault<std::array<int*, 2>> == address && kSimValueFault<std::nullptr_t> == address);

struct Reference {
    int& target;
};
struct Constant {
    const std::int32_t value;
};
static_assert(kSimValueFault<Reference> == not_assignable && kSimValueFault<Constant> == not_assignable);
static_assert(kSimValueFault<int&> == not_assignable && kSimValueFault<const int> == not_assignable);

struct Wide {
    wchar_t letter;
};
struct Long {
    long double value;
};
static_assert(kSimValueFault<Wide> == platform_width && kSimValueFault<Long> == platform_width);
// Where long has its own width it is refused. Elsewhere it is std::int64_t, and cannot be told apart.
static_assert(SimValue<long> == (sizeof(long) == 8) && SimValue<std::size_t> == (sizeof(std::size_t) == 8));

struct Base {
    std::int32_t x;
};
struct Derived : Base {
    std::int32_t y;
};
struct Empty {};
struct HoldsEmpty {
    std::int32_t x;
    Empty empty;
};
struct ThirtyThree {
    ThirtyTwo first;
    std::int32_t a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, a1, b1, c1, d1,
        e1, f1;
};
class Private {
public:
    [[nodiscard]] int value() const { return value_; }

private:
    int value_ = 0;
};
union Either {
    std::int32_t whole;
    float real;
};
static_assert(kSimValueFault<Derived> == base_class);
static_assert(kSimValueFault<Empty> == no_fields && kSimValueFault<HoldsEmpty> == no_fields);
static_assert(kSimValueFault<ThirtyThree> == too_many_fields);
static_assert(kSimValueFault<Private> == hidden_fields && kSimValueFault<Either> == union_of_types);
static_assert(kSimValueFault<std::string> == not_trivially_copyable);
static_assert(kSimValueFault<std::unique_ptr<int>> == not_trivially_copyable);

// Says by itself that it is one.
class Angle {
public:
    [[nodiscard]] std::uint32_t turns() const { return turns_; }

private:
    std::uint32_t turns_ = 0;
};
}  // namespace

template <>
inline constexpr bool ouro::kIsSimValue<Angle> = true;

namespace {

static_assert(SimValue<Angle> && SimKey<Angle>);
static_assert(SimKey<std::uint32_t> && SimKey<Bytes> && SimKey<FixedString<8>> && SimKey<Handle<int>>);
static_assert(!SimKey<float> && !SimKey<Plain> && !SimKey<Gap>);

TEST(SimValue, FieldsAreSeenAsTheyAre) {
    using Fields = ouro::detail::FieldsOf<Nested>;
    const bool is_same = std::is_same_v<
        Fields, ouro::detail::FieldList<Plain, std::array<Plain, 2>, OffsetPtr<Plain>, std::uint32_t[2][3],
                                        std::uint32_t, Handle<Plain>, FixedString<15>>>;
    EXPECT_TRUE(is_same);
    EXPECT_EQ(ouro::detail::count_fields<Large>(), 2U);
    EXPECT_EQ(ouro::detail::count_fields<ThirtyTwo>(), 32U);
    EXPECT_EQ(ouro::detail::count_fields<ThirtyThree>(), 33U);
    EXPECT_TRUE(ouro::require_sim_value<Nested>());
}

}  // namespace
