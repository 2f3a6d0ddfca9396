#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>

#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

namespace {

using ouro::Expected;
using ouro::Status;

// Counts the objects alive, so that a test sees each one destroyed exactly once.
struct Counted {
    explicit Counted(int number) noexcept : value(number) { ++alive; }
    Counted(const Counted& other) noexcept : value(other.value) { ++alive; }
    Counted(Counted&& other) noexcept : value(std::exchange(other.value, 0)) { ++alive; }
    Counted& operator=(const Counted&) = delete;
    ~Counted() { --alive; }

    int value;
    static inline int alive = 0;
};

struct MoveOnly {
    explicit MoveOnly(int number) noexcept : value(number) {}
    MoveOnly(MoveOnly&&) noexcept = default;
    MoveOnly& operator=(MoveOnly&&) noexcept = default;
    int value;
};

Expected<int> half_of_even(int number) {
    if (number % 2 != 0) return Status::bad_argument;
    return number / 2;
}

TEST(Expected, HoldsAValueOrAStatus) {
    const Expected<int> good = half_of_even(8);
    ASSERT_TRUE(good.has_value());
    EXPECT_EQ(*good, 4);
    EXPECT_EQ(good.status(), Status::ok);

    const Expected<int> bad = half_of_even(7);
    EXPECT_FALSE(bad);
    EXPECT_EQ(bad.status(), Status::bad_argument);
    EXPECT_EQ(bad.value_or(-1), -1);
}

TEST(Expected, DestroysWhatItHoldsOnce) {
    {
        Expected<Counted> one = Counted(1);
        EXPECT_EQ(Counted::alive, 1);
        Expected<Counted> copy = one;
        Expected<Counted> moved = std::move(one);
        EXPECT_EQ(Counted::alive, 3);
        EXPECT_EQ(copy->value, 1);
        EXPECT_EQ(moved->value, 1);
        copy = Expected<Counted>(Status::not_found);
        EXPECT_EQ(Counted::alive, 2);
        EXPECT_EQ(copy.status(), Status::not_found);
        copy = moved;
        EXPECT_EQ(Counted::alive, 3);
        EXPECT_EQ(copy->value, 1);
    }
    EXPECT_EQ(Counted::alive, 0);
}

TEST(Expected, CarriesMoveOnlyValues) {
    Expected<MoveOnly> made = MoveOnly(5);
    Expected<MoveOnly> moved = std::move(made);
    const MoveOnly taken = *std::move(moved);
    EXPECT_EQ(taken.value, 5);
    static_assert(!std::is_copy_constructible_v<Expected<MoveOnly>>);
}

// A failure must not turn into a value, nor a large number into a small one, without a word from the
// compiler.
TEST(Expected, TakesNothingThatLosesItsMeaning) {
    static_assert(!std::is_constructible_v<Expected<bool>, Expected<int>>);
    static_assert(!std::is_constructible_v<Expected<bool>, void*>);
    static_assert(!std::is_constructible_v<Expected<unsigned>, unsigned long long>);
    static_assert(!std::is_constructible_v<Expected<int>, double>);
    static_assert(!std::is_constructible_v<Expected<MoveOnly>, int>);
    static_assert(std::is_constructible_v<Expected<unsigned long long>, unsigned>);
    static_assert(std::is_constructible_v<Expected<double>, float>);
    SUCCEED();
}

TEST(Expected, OfATrivialValueIsTrivialToPass) {
    static_assert(std::is_trivially_copy_constructible_v<Expected<ouro::MemoryBlock>>);
    static_assert(std::is_trivially_destructible_v<Expected<ouro::MemoryBlock>>);
    SUCCEED();
}

TEST(Expected, OfVoidIsSuccessOrStatus) {
    EXPECT_TRUE(Expected<void>());
    EXPECT_TRUE(Expected<void>(Status::ok));
    EXPECT_EQ(Expected<void>(Status::busy).status(), Status::busy);
}

TEST(Expected, OfVoidIsAskedAsAStatusIs) {
    static_assert(Expected<void>() == Status::ok);
    static_assert(Expected<void>(Status::busy) == Status::busy);
    static_assert(Expected<void>(Status::busy) != Status::ok);
    const auto either = [](auto result) { return result != Status::ok; };
    EXPECT_TRUE(either(Expected<void>(Status::busy)) && either(Status::busy));
    EXPECT_FALSE(either(Expected<void>()) || either(Status::ok));
}

}  // namespace
