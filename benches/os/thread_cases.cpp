// Threads, waking them, and processes.
#include "harness/case.hpp"
#include "os/os_suite.hpp"
#include "os/raw_memory.hpp"
#include "os/wake_gates.hpp"

#include <ouro/os/thread.hpp>

#include <string>
#include <thread>

#include <pthread.h>
#include <sys/wait.h>

namespace ouro::bench {
namespace {

void measure_start(Session& session) {
    session.measure("start and join a thread", kMicroseconds)
        .ours(repeat([](std::uint64_t) { must(os::Thread::start([](void*) {}, nullptr), "thread").join(); }))
        .peer("std::thread", standard_library_version(),
              repeat([](std::uint64_t) { std::thread([] {}).join(); }))
        .peer("pthread_create", libc_version(), repeat([](std::uint64_t) {
                  pthread_t thread{};
                  must(::pthread_create(
                           &thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr) == 0,
                       "pthread_create");
                  ::pthread_join(thread, nullptr);
              }))
        .bar(ratio_at_most(1.25))
        .note("ours returns when the thread runs, so that its orders need no heap")
        .on_any_core()
        .run();
}

// The measuring thread and an echo, each on its core, wake each other in turn; half of a return trip is one
// wake.
template <class Gate>
Work ping_pong() {
    return [](Round& round) {
        Gate there;
        Gate back;
        const auto count = static_cast<std::uint32_t>(round.operations());
        std::thread echo([&] {
            must(os::pin_this_thread(0), "pin");
            for (std::uint32_t i = 1; i <= count; ++i) {
                there.wait_for(i);
                back.set(i);
            }
        });
        const std::uint64_t begin = os::monotonic_ns();
        for (std::uint32_t i = 1; i <= count; ++i) {
            there.set(i);
            back.wait_for(i);
        }
        round.add_time(static_cast<double>(os::monotonic_ns() - begin) / 2);
        echo.join();
        round.check(count);
    };
}

void measure_wake(Session& session) {
    if (os::core_count() < 2) {
        session.measure("wake a thread until it runs", kMicroseconds).unavailable("there is one core only");
        return;
    }
    // The measuring thread stays on the last core, the echo on the first.
    session.measure("wake a thread until it runs", kMicroseconds)
        .ours(ping_pong<OurGate>())
        .peer("futex(2)", kernel_version(), ping_pong<FutexGate>())
        .peer("condition_variable", standard_library_version(), ping_pong<ConditionGate>())
        .bar(ratio_at_most(1.1))
        .operations(session.sized(500, 20))
        .median()
        .run();
}

void fork_and_wait() {
    const pid_t child = ::fork();
    must(child >= 0, "fork");
    if (child == 0) ::_exit(0);
    int status = 0;
    must(::waitpid(child, &status, 0) == child, "waitpid");
}

void measure_fork(Session& session) {
    const RawMapping image = filled_memory(session.sized(25'600, 256) * kPage);
    const MemoryBlock block = image.block();
    const auto fork_with = [block](int advice) {
        return Work([block, advice](Round& round) {
            must(::madvise(block.data, block.size, advice) == 0, "madvise");
            round.time(fork_and_wait);
        });
    };
    const std::string size = size_name(block.size);
    session.measure("fork with " + size + ", child exits", kMicroseconds)
        .ours(fork_with(MADV_DOFORK))
        .bound("the same without the " + size, fork_with(MADV_DONTFORK))
        .note("reference 4,780 us, writes after it included")
        .operations(1)
        .run();
}

}  // namespace

void measure_threads(Session& session) {
    measure_start(session);
    measure_wake(session);
    measure_fork(session);
}

}  // namespace ouro::bench
