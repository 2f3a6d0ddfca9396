#pragma once

#include "chunk_range.hpp"

#include <ouro/jobs/detail/task_node.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

namespace ouro::detail {

// Some tasks, in the order of their coming.
class TaskBatch {
public:
    static constexpr unsigned kCapacity = 32;

    [[nodiscard]] bool is_empty() const noexcept { return size_ == 0; }
    [[nodiscard]] bool is_full() const noexcept { return size_ == kCapacity; }
    [[nodiscard]] unsigned size() const noexcept { return size_; }
    void add(std::uint32_t task) noexcept { tasks_[size_++] = task; }
    [[nodiscard]] std::uint32_t take_last() noexcept { return tasks_[--size_]; }
    void clear() noexcept { size_ = 0; }
    [[nodiscard]] std::span<const std::uint32_t> tasks() const noexcept { return {tasks_.data(), size_}; }

private:
    std::array<std::uint32_t, kCapacity> tasks_;
    unsigned size_ = 0;
};

// Tasks of one participant that can begin: it puts and takes the newest, others take the older half. One word
// says where the first and the last one lie, and how often something was put, so that whoever read places
// that were filled anew meanwhile does not get its exchange through.
class alignas(kCacheLine) ReadyRing {
public:
    static constexpr unsigned kCapacity = 2 * TaskBatch::kCapacity;

    // By its participant: false when there is not enough room.
    [[nodiscard]] bool put(std::span<const std::uint32_t> tasks) noexcept {
        std::uint64_t word = word_.load(std::memory_order_relaxed);
        const Ends ends = unpack(word);
        // Others only make room.
        if (ends.size() + tasks.size() > kCapacity) return false;
        for (std::size_t i = 0; i < tasks.size(); ++i)
            place(ends.last + i).store(tasks[i], std::memory_order_relaxed);
        for (;;) {
            Ends after = unpack(word);
            after.last = static_cast<std::uint16_t>(after.last + tasks.size());
            ++after.puts;
            // In one order with the count of the idle, see Parking.
            if (word_.compare_exchange_weak(word, pack(after), std::memory_order_seq_cst,
                                            std::memory_order_relaxed))
                return true;
        }
    }
    // By its participant: the newest, or kNoTask.
    [[nodiscard]] std::uint32_t take() noexcept {
        std::uint64_t word = word_.load(std::memory_order_relaxed);
        for (;;) {
            Ends ends = unpack(word);
            if (ends.size() == 0) return kNoTask;
            --ends.last;
            const std::uint32_t task = place(ends.last).load(std::memory_order_relaxed);
            if (word_.compare_exchange_weak(word, pack(ends), std::memory_order_relaxed)) return task;
        }
    }
    // By others: the larger half, the oldest first. Requires: the batch is empty, and stays so when there is
    // nothing.
    void steal(TaskBatch& batch) noexcept {
        std::uint64_t word = word_.load(std::memory_order_acquire);
        for (;;) {
            Ends ends = unpack(word);
            const unsigned wanted = (ends.size() + 1) / 2;
            if (wanted == 0) return;
            for (unsigned i = 0; i < wanted; ++i)
                batch.add(place(ends.first + i).load(std::memory_order_relaxed));
            ends.first = static_cast<std::uint16_t>(ends.first + wanted);
            if (word_.compare_exchange_weak(word, pack(ends), std::memory_order_acquire)) return;
            batch.clear();
        }
    }
    // A guess from outside.
    [[nodiscard]] bool is_empty() const noexcept {
        return unpack(word_.load(std::memory_order_seq_cst)).size() == 0;
    }

private:
    struct Ends {
        std::uint16_t first = 0;
        std::uint16_t last = 0;
        std::uint32_t puts = 0;

        [[nodiscard]] unsigned size() const noexcept { return static_cast<std::uint16_t>(last - first); }
    };
    [[nodiscard]] static std::uint64_t pack(Ends ends) noexcept {
        return std::uint64_t{ends.puts} << 32 | std::uint32_t{ends.last} << 16 | ends.first;
    }
    [[nodiscard]] static Ends unpack(std::uint64_t word) noexcept {
        return {static_cast<std::uint16_t>(word), static_cast<std::uint16_t>(word >> 16),
                static_cast<std::uint32_t>(word >> 32)};
    }
    [[nodiscard]] std::atomic<std::uint32_t>& place(std::size_t position) noexcept {
        return places_[position % kCapacity];
    }

    std::atomic<std::uint64_t> word_{0};
    alignas(kCacheLine) std::array<std::atomic<std::uint32_t>, kCapacity> places_{};
};

}  // namespace ouro::detail
