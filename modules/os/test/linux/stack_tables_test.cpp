#include <ouro/os/stack_trace.hpp>

#include <array>
#include <cstddef>

#include <gtest/gtest.h>

namespace {

struct Captured {
    std::array<void*, 64> frames{};
    std::size_t count = 0;
    // Where the innermost and the outermost of our functions return to.
    void* inner = nullptr;
    void* outer = nullptr;
};

enum class From : unsigned char { the_caller, the_inner, the_outer, nobody };

void capture_inside(int depth, From from, Captured& captured);

// Called through a pointer that the compiler cannot see through, so that each call stays a call.
void (*volatile next_call)(int, From, Captured&) = capture_inside;

[[gnu::noinline]] void capture_inside(int depth, From from, Captured& captured) {
    if (captured.outer == nullptr) captured.outer = __builtin_return_address(0);
    if (depth == 0) {
        captured.inner = __builtin_return_address(0);
        const std::array<const void*, 4> firsts{nullptr, captured.inner, captured.outer, &captured};
        captured.count = ouro::os::capture_callers(captured.frames, firsts[static_cast<std::size_t>(from)]);
    } else {
        next_call(depth - 1, from, captured);
    }
    asm volatile("" ::: "memory");
}

TEST(StackTables, NeedNoFramePointers) {
    Captured captured;
    next_call(5, From::the_inner, captured);
    ASSERT_GT(captured.count, 6U);
    for (std::size_t i = 0; i < 5; ++i)
        EXPECT_EQ(captured.frames[i], captured.inner) << i;
    EXPECT_EQ(captured.frames[5], captured.outer);
}

TEST(StackTables, BeginWithTheCallerWhenNoneIsNamed) {
    Captured captured;
    next_call(5, From::the_caller, captured);
    ASSERT_GT(captured.count, 7U);
    EXPECT_EQ(captured.frames[1], captured.inner);
    EXPECT_EQ(captured.frames[6], captured.outer);
}

// As where code without tables hides it: what is found on the way there is the same for every caller.
TEST(StackTables, TellOfTheFirstAloneWhenItIsNotFound) {
    Captured captured;
    next_call(5, From::nobody, captured);
    ASSERT_EQ(captured.count, 1U);
    EXPECT_EQ(captured.frames[0], &captured);
}

TEST(StackTables, FindAFirstFarOutsideAndGiveUpAfterMany) {
    Captured captured;
    next_call(100, From::the_outer, captured);
    ASSERT_GT(captured.count, 1U);
    EXPECT_EQ(captured.frames[0], captured.outer);
    captured = {};
    next_call(1000, From::the_outer, captured);
    ASSERT_EQ(captured.count, 1U);
    EXPECT_EQ(captured.frames[0], captured.outer);
}

TEST(StackTables, FillNoMoreThanTheyAreGiven) {
    std::array<void*, 2> frames{};
    EXPECT_EQ(ouro::os::capture_callers({}, nullptr), 0U);
    EXPECT_EQ(ouro::os::capture_callers(frames, nullptr), 2U);
}

}  // namespace
