// The clock, the bare system call, and futexes with nobody else around.
#include "harness/case.hpp"
#include "os/os_suite.hpp"

#include <ouro/os/clock.hpp>
#include <ouro/os/futex.hpp>

#include <atomic>
#include <chrono>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace ouro::bench {
namespace {

void measure_clock(Session& session) {
    session.measure("read the clock", kNanoseconds)
        .ours(repeat([](std::uint64_t) { keep(os::monotonic_ns()); }))
        .peer("clock_gettime", libc_version(), repeat([](std::uint64_t) {
                  timespec now{};
                  ::clock_gettime(CLOCK_MONOTONIC, &now);
                  keep(now);
              }))
        .peer("steady_clock", standard_library_version(),
              repeat([](std::uint64_t) { keep(std::chrono::steady_clock::now()); }), ratio_at_most(1.05))
        .bound("the cycle counter", repeat([](std::uint64_t) { keep(read_cycle_counter()); }))
        .note("clock_gettime leaves seconds and nanoseconds apart")
        .run();
}

Work empty_system_call() {
    return repeat([](std::uint64_t) { keep(::syscall(SYS_getppid)); });
}

void measure_uncontended(Session& session) {
    std::atomic<std::uint32_t> word{1};
    session.measure("wait on a word that changed", kNanoseconds)
        .ours(repeat([&](std::uint64_t) { keep(os::wait_on(word, 0)); }))
        .peer("futex(2)", kernel_version(), repeat([&](std::uint64_t) {
                  keep(::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0));
              }))
        .bound("an empty system call", empty_system_call())
        .bar(ratio_at_most(1.1))
        .run();
    session.measure("wake with nobody waiting", kNanoseconds)
        .ours(repeat([&](std::uint64_t) { keep(os::wake_one(word)); }))
        .peer("futex(2)", kernel_version(), repeat([&](std::uint64_t) {
                  keep(::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0));
              }))
        .bound("an empty system call", empty_system_call())
        .bar(ratio_at_most(1.1))
        .run();
}

}  // namespace

void measure_calls(Session& session) {
    measure_clock(session);
    measure_uncontended(session);
}

}  // namespace ouro::bench
