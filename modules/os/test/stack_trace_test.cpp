#include <ouro/os/capabilities.hpp>
#include <ouro/os/stack_trace.hpp>

#include <array>
#include <cstddef>

#include <gtest/gtest.h>

namespace {

struct Captured {
    std::array<void*, 64> frames{};
    std::size_t count = 0;
};

void capture_at_depth(int depth, Captured& captured);

// Called through a pointer that the compiler cannot see through, so that each call stays a call.
void (*volatile next_call)(int, Captured&) = capture_at_depth;

void capture_at_depth(int depth, Captured& captured) {
    if (depth == 0) {
        captured.count = ouro::os::capture_stack(captured.frames);
    } else {
        next_call(depth - 1, captured);
    }
    asm volatile("" ::: "memory");
}

bool stack_is_visible() {
    return ouro::os::query_capabilities().stack_capture;
}

TEST(StackTrace, HasAFrameForEachCall) {
    if (!stack_is_visible()) return;
    Captured shallow;
    Captured deep;
    next_call(1, shallow);
    next_call(11, deep);
    ASSERT_GT(shallow.count, 2U);
    EXPECT_EQ(deep.count, shallow.count + 10);
    // The ten calls in between return to the same place.
    for (std::size_t i = 2; i < 11; ++i)
        EXPECT_EQ(deep.frames[i], deep.frames[1]);
}

TEST(StackTrace, FillsNoMoreThanItIsGivenAndSkips) {
    if (!stack_is_visible()) return;
    std::array<void*, 8> frames{};
    EXPECT_EQ(ouro::os::capture_stack({}), 0U);
    const std::size_t all = ouro::os::capture_stack(frames);
    std::array<void*, 8> skipped{};
    ASSERT_GT(all, 1U);
    ASSERT_GT(ouro::os::capture_stack(skipped, 1), 0U);
    EXPECT_EQ(skipped[0], frames[1]);
    EXPECT_EQ(ouro::os::capture_stack(std::span(frames).first(1)), 1U);
    EXPECT_EQ(ouro::os::capture_stack(frames, 1'000'000), 0U);
}

TEST(StackTrace, IsEmptyExactlyWhereTheStackIsHidden) {
    std::array<void*, 8> frames{};
    EXPECT_EQ(ouro::os::capture_stack(frames) == 0, !stack_is_visible());
}

}  // namespace
