#include <ouro/memory/detail/use_counter.hpp>

namespace ouro::detail {

bool UseCounter::reserve_below(std::size_t bytes, std::size_t limit, std::size_t& sum) noexcept {
    std::size_t live = live_bytes_.load(std::memory_order_relaxed);
    do {
        if (bytes > limit || live > limit - bytes) return false;
        sum = live + bytes;
    } while (!live_bytes_.compare_exchange_weak(live, sum, std::memory_order_relaxed));
    return true;
}

UseCounter::Totals UseCounter::totals() const noexcept {
    const std::uint64_t deallocations = deallocations_.load(std::memory_order_relaxed);
    return {.allocations = allocations_.load(std::memory_order_relaxed),
            .deallocations = deallocations,
            .reallocations = reallocations_.load(std::memory_order_relaxed),
            .allocated_bytes = allocated_bytes_.load(std::memory_order_relaxed)};
}

void UseCounter::forget_live() noexcept {
    deallocations_.store(allocations_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    live_bytes_.store(0, std::memory_order_relaxed);
}

}  // namespace ouro::detail
