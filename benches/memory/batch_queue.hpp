#pragma once

#include "harness/patience.hpp"

#include <array>
#include <atomic>
#include <cstddef>

namespace ouro::bench {

// Batches of pointers on their way from one thread to one other, without a lock and without an allocation, so
// that the traffic is the allocator's alone.
class BatchQueue {
public:
    static constexpr std::size_t kBatch = 128;
    static constexpr std::size_t kSlots = 16;
    using Batch = std::array<void*, kBatch>;

    // The batch to fill next; waits until there is room.
    [[nodiscard]] Batch& next_to_fill() noexcept {
        const std::size_t count = filled_.load(std::memory_order_relaxed);
        for (Patience patience; count - emptied_.load(std::memory_order_acquire) == kSlots;)
            patience.wait();
        return slots_[count % kSlots];
    }
    void hand_over() noexcept { filled_.fetch_add(1, std::memory_order_release); }

    // The batch to empty next; waits until there is one.
    [[nodiscard]] Batch& next_to_empty() noexcept {
        const std::size_t count = emptied_.load(std::memory_order_relaxed);
        for (Patience patience; filled_.load(std::memory_order_acquire) == count;)
            patience.wait();
        return slots_[count % kSlots];
    }
    void give_back() noexcept { emptied_.fetch_add(1, std::memory_order_release); }

private:
    std::array<Batch, kSlots> slots_{};
    alignas(64) std::atomic<std::size_t> filled_{0};
    alignas(64) std::atomic<std::size_t> emptied_{0};
};

}  // namespace ouro::bench
