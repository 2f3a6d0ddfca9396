#include <ouro/memory/detail/use_counter.hpp>

namespace ouro::detail {
namespace {

constinit std::atomic<std::uint32_t> lanes_given{0};

constexpr std::uint32_t kNotAsked = ~0U;
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint32_t own_number = kNotAsked;

// A lane is never given to a second thread, so that what its owner wrote last needs no hand-over.
[[gnu::cold, gnu::noinline]] std::uint32_t take_lane() noexcept {
    std::uint32_t given = lanes_given.load(std::memory_order_relaxed);
    while (given + 1 < kThreadLanes) {
        if (lanes_given.compare_exchange_weak(given, given + 1, std::memory_order_relaxed)) {
            own_number = given + 1;
            return own_number;
        }
    }
    own_number = 0;
    return own_number;
}

}  // namespace

std::uint32_t this_thread_lane() noexcept {
    const std::uint32_t number = own_number;
    if (number != kNotAsked) [[likely]]
        return number;
    return take_lane();
}

bool UseCounter::reserve_below(std::size_t bytes, std::size_t limit, std::size_t& sum) noexcept {
    std::size_t live = live_bytes_.load(std::memory_order_relaxed);
    do {
        if (bytes > limit || live > limit - bytes) return false;
        sum = live + bytes;
    } while (!live_bytes_.compare_exchange_weak(live, sum, std::memory_order_relaxed));
    return true;
}

UseCounter::Totals UseCounter::totals() const noexcept {
    Totals totals;
    for (const Lane& lane : lanes_) {
        totals.allocations += lane.allocations.load(std::memory_order_relaxed);
        totals.deallocations += lane.deallocations.load(std::memory_order_relaxed);
        totals.reallocations += lane.reallocations.load(std::memory_order_relaxed);
        totals.allocated_bytes += lane.allocated_bytes.load(std::memory_order_relaxed);
    }
    return totals;
}

void UseCounter::forget_live() noexcept {
    const Totals now = totals();
    lanes_[0].deallocations.fetch_add(now.allocations - now.deallocations, std::memory_order_relaxed);
    live_bytes_.store(0, std::memory_order_relaxed);
}

}  // namespace ouro::detail
