#include <ouro/observe/pressure.hpp>
#include <ouro/os/clock.hpp>

#include <algorithm>
#include <bit>

namespace ouro {
namespace {

std::uint64_t get(const std::atomic<std::uint64_t>& word) noexcept {
    return word.load(std::memory_order_relaxed);
}

PressureLatency latency_of(const detail::PressureState& state) noexcept {
    PressureLatency latency{.min_ns = get(state.latency_min_ns), .max_ns = get(state.latency_max_ns)};
    for (std::size_t i = 0; i < latency.buckets.size(); ++i) {
        latency.buckets[i] = get(state.latency_buckets[i]);
        latency.count += latency.buckets[i];
    }
    return latency;
}

}  // namespace

std::uint64_t PressureLatency::quantile_ns(unsigned percent) const noexcept {
    if (count == 0) return 0;
    const std::uint64_t wanted = std::max<std::uint64_t>((count * std::min(percent, 100U) + 99) / 100, 1);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        sum += buckets[i];
        if (sum >= wanted) return std::clamp((std::uint64_t{2} << i) - 1, min_ns, max_ns);
    }
    return max_ns;
}

// Both ends by the system's clock: the ledger knows no other.
void PressureMonitor::note_latency() noexcept {
    if (crossed_ns_ == 0) return;
    const std::uint64_t now_ns = os::monotonic_ns();
    const std::uint64_t latency_ns = now_ns > crossed_ns_ ? now_ns - crossed_ns_ : 0;
    crossed_ns_ = 0;
    const auto bucket = static_cast<std::size_t>(std::bit_width(latency_ns | 1) - 1);
    auto& count = state_->latency_buckets[std::min(bucket, detail::kLatencyBuckets - 1)];
    const bool is_first = latency_of(*state_).count == 0;
    if (is_first || latency_ns < get(state_->latency_min_ns))
        state_->latency_min_ns.store(latency_ns, std::memory_order_relaxed);
    if (latency_ns > get(state_->latency_max_ns))
        state_->latency_max_ns.store(latency_ns, std::memory_order_relaxed);
    count.fetch_add(1, std::memory_order_relaxed);
}

PressureReport PressureMonitor::report() const noexcept {
    return {.level = static_cast<PressureLevel>(state_->level.load(std::memory_order_relaxed)),
            .source = static_cast<PressureSource>(state_->source.load(std::memory_order_relaxed)),
            .used_bytes = get(state_->used_bytes),
            .limit_bytes = get(state_->limit_bytes)};
}

PressureStats PressureMonitor::stats() const noexcept {
    return {.looks = get(state_->looks),
            .skipped_polls = get(state_->skipped_polls),
            .level_changes = get(state_->level_changes),
            .handler_calls = get(state_->handler_calls),
            .reliefs = get(state_->reliefs),
            .failures = get(state_->failures),
            .reported_bytes = get(state_->reported_bytes),
            .freed_bytes = get(state_->freed_bytes),
            .handler_ns = get(state_->handler_ns),
            .latency = latency_of(*state_)};
}

}  // namespace ouro
