#include "system_calls.hpp"

#include <ouro/os/futex.hpp>

#include <cerrno>
#include <climits>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace ouro::os {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4);

unsigned wake(const std::atomic<std::uint32_t>& word, int count) noexcept {
    const long woken = ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
    return woken > 0 ? static_cast<unsigned>(woken) : 0;
}

}  // namespace

WaitOutcome wait_on(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                    std::uint64_t timeout_ns) noexcept {
    // The kernel would answer the same, a system call later.
    if (word.load(std::memory_order_acquire) != expected) return WaitOutcome::changed;
    constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
    timespec timeout{};
    timeout.tv_sec = static_cast<time_t>(timeout_ns / kNsPerSecond);
    timeout.tv_nsec = static_cast<long>(timeout_ns % kNsPerSecond);
    const timespec* limit = timeout_ns == kForever ? nullptr : &timeout;
    const long result = attempt(OsCall::wait_on_word, [&] {
        return ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, limit, nullptr, 0);
    });
    if (result == 0) return WaitOutcome::woken;
    switch (errno) {
        case EAGAIN:
            return WaitOutcome::changed;
        case ETIMEDOUT:
            return WaitOutcome::timed_out;
        default:
            return WaitOutcome::woken;
    }
}

unsigned wake_one(const std::atomic<std::uint32_t>& word) noexcept {
    return wake(word, 1);
}

unsigned wake_all(const std::atomic<std::uint32_t>& word) noexcept {
    return wake(word, INT_MAX);
}

}  // namespace ouro::os
