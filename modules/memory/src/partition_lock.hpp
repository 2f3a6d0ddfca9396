#pragma once

#include <ouro/memory/partition.hpp>
#include <ouro/os/futex.hpp>
#include <ouro/os/thread.hpp>

namespace ouro {

// Spins for a while, since nobody holds the lock for long unless the system is asked for memory, then sleeps.
class Partition::Lock {
public:
    explicit Lock(const Partition& partition) noexcept
        : word_(partition.is_locked_ ? &partition.lock_word_ : nullptr) {
        if (word_ != nullptr) acquire();
    }
    ~Lock() {
        if (word_ == nullptr) return;
        if (word_->exchange(kFree, std::memory_order_release) == kAwaited) os::wake_one(*word_);
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

private:
    static constexpr std::uint32_t kFree = 0;
    static constexpr std::uint32_t kHeld = 1;
    // Held, and somebody may be asleep.
    static constexpr std::uint32_t kAwaited = 2;
    static constexpr int kSpins = 100;

    void acquire() noexcept {
        for (int spin = 0; spin < kSpins; ++spin) {
            std::uint32_t seen = kFree;
            if (word_->compare_exchange_weak(seen, kHeld, std::memory_order_acquire)) return;
            os::spin_pause();
        }
        while (word_->exchange(kAwaited, std::memory_order_acquire) != kFree)
            os::wait_on(*word_, kAwaited);
    }

    std::atomic<std::uint32_t>* word_;
};

}  // namespace ouro
