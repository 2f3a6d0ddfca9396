#pragma once

#include <ouro/memory/partition.hpp>
#include <ouro/os/thread.hpp>

namespace ouro {

// Only with guards and any_thread: other partitions are for one thread, or have a heap without locks.
// Held for some instructions, or for a system call when a span gets or loses its memory: waiting threads
// spin, then let others run first.
class Partition::Lock {
public:
    explicit Lock(const Partition& partition) noexcept
        : word_(partition.is_shared_ ? &partition.lock_word_ : nullptr) {
        if (word_ == nullptr) return;
        while (word_->exchange(kHeld, std::memory_order_acquire) != kFree)
            wait();
    }
    ~Lock() {
        if (word_ != nullptr) word_->store(kFree, std::memory_order_release);
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

private:
    static constexpr std::uint32_t kFree = 0;
    static constexpr std::uint32_t kHeld = 1;
    static constexpr int kSpins = 100;

    void wait() const noexcept {
        for (int spin = 0; word_->load(std::memory_order_relaxed) != kFree; ++spin) {
            if (spin < kSpins) {
                os::spin_pause();
            } else {
                os::yield_thread();
            }
        }
    }

    std::atomic<std::uint32_t>* word_;
};

}  // namespace ouro
