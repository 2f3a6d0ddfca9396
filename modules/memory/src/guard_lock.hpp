#pragma once

#include <ouro/os/futex.hpp>

#include <atomic>
#include <cstdint>

namespace ouro {

// Lets one thread in at a time; the others sleep. For the tiers that look for bugs, never for a hot path.
class GuardLock {
public:
    void lock() noexcept {
        std::uint32_t seen = kOpen;
        if (word_.compare_exchange_strong(seen, kTaken, std::memory_order_acquire)) return;
        while (word_.exchange(kContended, std::memory_order_acquire) != kOpen)
            os::wait_on(word_, kContended);
    }
    void unlock() noexcept {
        if (word_.exchange(kOpen, std::memory_order_release) == kContended) os::wake_one(word_);
    }

private:
    static constexpr std::uint32_t kOpen = 0;
    static constexpr std::uint32_t kTaken = 1;
    static constexpr std::uint32_t kContended = 2;

    std::atomic<std::uint32_t> word_{kOpen};
};

class GuardLockScope {
public:
    explicit GuardLockScope(GuardLock& lock) noexcept : lock_(lock) { lock_.lock(); }
    ~GuardLockScope() { lock_.unlock(); }
    GuardLockScope(const GuardLockScope&) = delete;
    GuardLockScope& operator=(const GuardLockScope&) = delete;

private:
    GuardLock& lock_;
};

}  // namespace ouro
