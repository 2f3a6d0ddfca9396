#pragma once

#include "ready_ring.hpp"

#include <atomic>
#include <cstdint>
#include <span>

namespace ouro::detail {

// Batches of tasks that found no room in a ring, the newest first: linked through the tasks themselves, so
// that there is always room. The upper half of the word counts, so that a task that was here before is not
// taken for one that never left.
class TaskStack {
public:
    void reset() noexcept { head_.store(kNoTask, std::memory_order_relaxed); }

    // Requires: a batch with something in it.
    void put(std::span<TaskNode> tasks, std::span<const std::uint32_t> batch) noexcept {
        for (std::size_t i = 0; i + 1 < batch.size(); ++i)
            tasks[batch[i]].next = batch[i + 1];
        tasks[batch.back()].next = kNoTask;
        const std::atomic_ref link(tasks[batch.front()].next_batch);
        std::uint64_t head = head_.load(std::memory_order_relaxed);
        do {
            link.store(static_cast<std::uint32_t>(head), std::memory_order_relaxed);
        } while (!head_.compare_exchange_weak(head, moved(head, batch.front()), std::memory_order_seq_cst,
                                              std::memory_order_relaxed));
    }

    // Requires: the batch is empty, and stays so when there is nothing.
    void take(std::span<TaskNode> tasks, TaskBatch& batch) noexcept {
        std::uint64_t head = head_.load(std::memory_order_acquire);
        for (;;) {
            const auto first = static_cast<std::uint32_t>(head);
            if (first == kNoTask) return;
            // May be of another time already, and then the exchange fails.
            const std::uint32_t below =
                std::atomic_ref(tasks[first].next_batch).load(std::memory_order_relaxed);
            if (!head_.compare_exchange_weak(head, moved(head, below), std::memory_order_acquire)) continue;
            for (std::uint32_t task = first; task != kNoTask; task = tasks[task].next)
                batch.add(task);
            return;
        }
    }
    // A guess from outside.
    [[nodiscard]] bool is_empty() const noexcept {
        return static_cast<std::uint32_t>(head_.load(std::memory_order_seq_cst)) == kNoTask;
    }

private:
    [[nodiscard]] static std::uint64_t moved(std::uint64_t head, std::uint32_t task) noexcept {
        return ((head >> 32) + 1) << 32 | task;
    }

    std::atomic<std::uint64_t> head_{kNoTask};
};

}  // namespace ouro::detail
