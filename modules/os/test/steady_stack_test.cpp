#include <ouro/os/steady_stack.hpp>

#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

namespace {

using ouro::Status;
using ouro::os::SteadyStack;

// Where the locals of what is called are.
[[gnu::noinline]] void look(std::uintptr_t& seen) {
    volatile char local = 0;
    seen = reinterpret_cast<std::uintptr_t>(&local);
}

// Calls from so much deeper.
[[gnu::noinline]] Status call_deep(const SteadyStack& stack, int frames, std::uintptr_t& seen) {
    volatile char own[200] = {};
    own[0] = static_cast<char>(frames);
    const Status status = frames == 0 ? stack.call([&] { look(seen); }) : call_deep(stack, frames - 1, seen);
    own[1] = own[0];
    return status;
}

TEST(SteadyStack, IsAtTheSamePlaceHoweverDeepTheCallerIs) {
    const SteadyStack stack;
    std::uintptr_t first = 0;
    ASSERT_EQ(call_deep(stack, 0, first), Status::ok);
    for (int frames = 1; frames < 20; ++frames) {
        std::uintptr_t seen = 0;
        ASSERT_EQ(call_deep(stack, frames, seen), Status::ok);
        EXPECT_EQ(seen, first) << frames;
    }
}

TEST(SteadyStack, RefusesWhoIsTooDeep) {
    const SteadyStack stack(4096);
    std::uintptr_t seen = 0;
    EXPECT_EQ(call_deep(stack, 100, seen), Status::out_of_range);
    EXPECT_EQ(seen, 0U);
    EXPECT_EQ(call_deep(stack, 0, seen), Status::ok);
    EXPECT_NE(seen, 0U);
}

}  // namespace
