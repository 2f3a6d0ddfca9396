#include "linux/stack_bounds.hpp"

#include <ouro/os/fault_injection.hpp>
#include <ouro/os/stack_trace.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <thread>

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

// Without what a thread remembers.
os::StackBounds bounds_in_a_new_thread(os::OsCall fails, int error) {
    os::StackBounds bounds;
    std::thread([&] {
        if constexpr (os::kFaultInjection) os::fault_injection::fail_nth(fails, 1, error);
        const auto own = reinterpret_cast<std::uintptr_t>(&bounds);
        int local = 0;
        errno = ERANGE;
        bounds = os::bounds_around(reinterpret_cast<std::uintptr_t>(&local));
        // Whoever frees, or is a signal's handler, leaves it as it was.
        EXPECT_EQ(errno, ERANGE);
        EXPECT_EQ(bounds.high != 0, bounds.contain(reinterpret_cast<std::uintptr_t>(&local)));
        EXPECT_FALSE(bounds.contain(own)) << "another thread's";
        if constexpr (os::kFaultInjection) {
            EXPECT_TRUE(os::fault_injection::has_fired());
            os::fault_injection::clear();
        }
    }).join();
    return bounds;
}

TEST(StackBounds, AreFoundInTheWholeListWhereTheKernelTellsOfNoSingleMapping) {
    EXPECT_NE(bounds_in_a_new_thread(os::OsCall::query_mapping, ENOTTY).high, 0U);
    // The list itself is opened again.
    EXPECT_NE(bounds_in_a_new_thread(os::OsCall::open_file, EMFILE).high, 0U);
}

}  // namespace
