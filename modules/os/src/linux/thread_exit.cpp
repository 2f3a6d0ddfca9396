#include "system_calls.hpp"
#include "thread_exit_table.hpp"

#include <ouro/os/thread_exit.hpp>

#include <atomic>
#include <cstdint>

#include <limits.h>
#include <pthread.h>

namespace ouro::os {
namespace {

// The C library makes the rounds. Its last one is left to those who must come after everybody: a sanitizer
// takes the thread apart there.
static_assert(kThreadExitRounds < PTHREAD_DESTRUCTOR_ITERATIONS);

// The one key of the C library that stands for all of ours, plus one; zero before it is made.
constinit std::atomic<std::uint64_t> native_key{0};

Expected<pthread_key_t> native_exit_key() noexcept {
    const std::uint64_t known = native_key.load(std::memory_order_acquire);
    if (known != 0) return static_cast<pthread_key_t>(known - 1);
    pthread_key_t made{};
    const int result = attempt(OsCall::make_thread_key, [&] {
        return with_errno(::pthread_key_create(&made, [](void*) { run_thread_exit_hooks(); }));
    });
    if (result != 0) return errno == EAGAIN ? Status::capacity_exhausted : status_of_error(errno);
    std::uint64_t nobodys = 0;
    if (native_key.compare_exchange_strong(nobodys, std::uint64_t{made} + 1)) return made;
    // Another thread was first.
    ::pthread_key_delete(made);
    return static_cast<pthread_key_t>(nobodys - 1);
}

}  // namespace

Status arm_thread_exit() noexcept {
    const auto key = native_exit_key();
    if (!key) return key.status();
    const int result = attempt(OsCall::set_thread_value,
                               [&] { return with_errno(::pthread_setspecific(*key, &native_key)); });
    return result == 0 ? Status::ok : status_of_error(errno);
}

}  // namespace ouro::os
