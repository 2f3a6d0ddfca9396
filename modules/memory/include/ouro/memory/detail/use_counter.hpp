#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/memory/detail/block_assert.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ouro::detail {

// Counts what is allocated and freed, exactly, from any number of threads; a counter for one thread uses no
// locked instructions. The live bytes are one word, because a bound on them must hold for all threads
// together. Counting what only adds up in parts, one a thread, was measured to be no faster: the threads meet
// at that word anyway.
class UseCounter {
public:
    static constexpr std::size_t kUnlimited = ~std::size_t{0};

    struct Totals {
        std::uint64_t allocations = 0;
        std::uint64_t deallocations = 0;
        std::uint64_t reallocations = 0;
        // Of all allocations and growths so far.
        std::uint64_t allocated_bytes = 0;
    };

    explicit UseCounter(bool one_thread) noexcept : one_thread_(one_thread) {}

    // Takes the bytes into account unless the sum would pass the limit; true, and the sum, or false. Follow
    // up with confirm when the memory was had, or with release when not.
    [[nodiscard]] bool reserve(std::size_t bytes, std::size_t limit, std::size_t& sum) noexcept {
        if (one_thread_) {
            const std::size_t live = live_bytes_.load(std::memory_order_relaxed);
            if (bytes > limit || live > limit - bytes) return false;
            sum = live + bytes;
            live_bytes_.store(sum, std::memory_order_relaxed);
            return true;
        }
        // Sums of ordinary sizes cannot wrap around: the address space is smaller.
        if (limit == kUnlimited && bytes <= kUnlimited / 4) [[likely]] {
            sum = live_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
            return true;
        }
        return reserve_below(bytes, limit, sum);
    }

    // The reserved bytes became memory: the peak may count them. `sum` is what reserve told.
    void confirm(std::size_t sum) noexcept {
        std::size_t peak = peak_bytes_.load(std::memory_order_relaxed);
        while (sum > peak && !peak_bytes_.compare_exchange_weak(peak, sum, std::memory_order_relaxed)) {
        }
    }

    // Requires: as many bytes are in use (assert). A failure names the resource and the block they are of.
    void release(std::size_t bytes, const MemoryResource& resource, const void* block = nullptr) noexcept {
        const std::size_t live = subtract(bytes);
        OURO_BLOCK_ASSERT(live >= bytes, "more bytes were returned than were given", resource, block);
    }

    void count_allocation(std::size_t bytes) noexcept {
        add(allocations_, 1);
        add(allocated_bytes_, bytes);
    }
    void count_deallocation() noexcept { add(deallocations_, 1); }
    void count_deallocations(std::uint64_t blocks) noexcept { add(deallocations_, blocks); }
    void count_reallocation(std::size_t growth_bytes) noexcept {
        add(reallocations_, 1);
        add(allocated_bytes_, growth_bytes);
    }

    [[nodiscard]] std::size_t live_bytes() const noexcept {
        return live_bytes_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::size_t peak_bytes() const noexcept {
        return peak_bytes_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] Totals totals() const noexcept;

    // Everything was freed at once. Requires: no other thread counts meanwhile.
    void forget_live() noexcept;

private:
    [[nodiscard]] bool reserve_below(std::size_t bytes, std::size_t limit, std::size_t& sum) noexcept;

    [[nodiscard]] std::size_t subtract(std::size_t bytes) noexcept {
        if (!one_thread_) return live_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
        const std::size_t live = live_bytes_.load(std::memory_order_relaxed);
        live_bytes_.store(live - bytes, std::memory_order_relaxed);
        return live;
    }

    void add(std::atomic<std::uint64_t>& count, std::uint64_t amount) noexcept {
        if (one_thread_) {
            count.store(count.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
        } else {
            count.fetch_add(amount, std::memory_order_relaxed);
        }
    }

    alignas(64) std::atomic<std::size_t> live_bytes_{0};
    std::atomic<std::size_t> peak_bytes_{0};
    const bool one_thread_;
    alignas(64) std::atomic<std::uint64_t> allocations_{0};
    std::atomic<std::uint64_t> deallocations_{0};
    std::atomic<std::uint64_t> reallocations_{0};
    std::atomic<std::uint64_t> allocated_bytes_{0};
};

}  // namespace ouro::detail
