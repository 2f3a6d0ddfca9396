#include <ouro/os/stack_trace.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <array>
#include <csignal>
#include <cstdint>

#include <gtest/gtest.h>

namespace {

namespace os = ouro::os;

std::size_t captured_on_alternate_stack = 0;

// Walks from a frame whose saved pointer leads out of the alternate stack, to memory that is not there.
[[gnu::noinline]] void capture_with_wild_frame_pointer(std::uintptr_t wild) {
    std::array<void*, 16> frames;
    auto* saved = static_cast<std::uintptr_t*>(__builtin_frame_address(0));
    const std::uintptr_t real = *saved;
    *saved = wild;
    captured_on_alternate_stack = os::capture_stack(frames);
    *saved = real;
}

std::uintptr_t wild_pointer = 0;

void handle_signal(int) {
    capture_with_wild_frame_pointer(wild_pointer);
}

// A signal handler on a stack of its own, below a hole: everything between it and the thread's own stack
// looks like stack to a walker that knows the top only.
TEST(StackBounds, AreThoseOfTheStackItRunsOn) {
    const auto memory = os::reserve({.bytes = std::size_t{4} << 20});
    ASSERT_TRUE(memory);
    const ouro::MemoryBlock stack_block = memory->sub(0, std::size_t{1} << 20);
    ASSERT_TRUE(os::commit(stack_block));
    wild_pointer = reinterpret_cast<std::uintptr_t>(memory->data + (std::size_t{2} << 20));

    stack_t alternate = {};
    stack_t previous = {};
    alternate.ss_sp = stack_block.data;
    alternate.ss_size = stack_block.size;
    ASSERT_EQ(::sigaltstack(&alternate, &previous), 0);
    struct sigaction action = {};
    struct sigaction before = {};
    action.sa_handler = handle_signal;
    action.sa_flags = SA_ONSTACK;
    ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
    ASSERT_EQ(::raise(SIGUSR1), 0);
    EXPECT_GE(captured_on_alternate_stack, 1U);
    EXPECT_LE(captured_on_alternate_stack, 3U);

    ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
    ASSERT_EQ(::sigaltstack(&previous, nullptr), 0);
    ASSERT_TRUE(os::release(*memory));
    std::array<void*, 16> frames;
    EXPECT_GE(os::capture_stack(frames), 2U);
}

}  // namespace
