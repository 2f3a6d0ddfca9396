#pragma once

#include <ouro/os/futex.hpp>

#include <atomic>
#include <cstdint>

namespace ouro::detail {

// A lock in one word, for slow paths only: registering, changing tables, asking the system for memory. All
// bits zero is free, so that a static one needs no construction.
class WordLock {
public:
    void lock() noexcept {
        std::uint32_t seen = kFree;
        if (word_.compare_exchange_strong(seen, kHeld, std::memory_order_acquire)) [[likely]]
            return;
        // Whoever slept leaves the word as contended: more may be sleeping still.
        while (word_.exchange(kContended, std::memory_order_acquire) != kFree)
            os::wait_on(word_, kContended);
    }

    [[nodiscard]] bool try_lock() noexcept {
        std::uint32_t seen = kFree;
        return word_.compare_exchange_strong(seen, kHeld, std::memory_order_acquire);
    }

    void unlock() noexcept {
        if (word_.exchange(kFree, std::memory_order_release) == kContended) os::wake_one(word_);
    }

private:
    static constexpr std::uint32_t kFree = 0;
    static constexpr std::uint32_t kHeld = 1;
    static constexpr std::uint32_t kContended = 2;

    std::atomic<std::uint32_t> word_{kFree};
};

// One of a resource, which a fork finds free: it is taken before and let go on both sides. Nobody may wait
// for another lock of the module, or fork, while having it.
class ForkSafeLock : public WordLock {
public:
    ForkSafeLock() noexcept;
    // Requires: free.
    ~ForkSafeLock();
    ForkSafeLock(const ForkSafeLock&) = delete;
    ForkSafeLock& operator=(const ForkSafeLock&) = delete;

    // All there are: see fork_safety.hpp.
    static void hold_all() noexcept;
    static void let_all_go() noexcept;

private:
    ForkSafeLock* next_ = nullptr;
    ForkSafeLock* previous_ = nullptr;
};

class WordLockScope {
public:
    explicit WordLockScope(WordLock& lock) noexcept : lock_(lock) { lock_.lock(); }
    ~WordLockScope() { lock_.unlock(); }
    WordLockScope(const WordLockScope&) = delete;
    WordLockScope& operator=(const WordLockScope&) = delete;

private:
    WordLock& lock_;
};

}  // namespace ouro::detail
