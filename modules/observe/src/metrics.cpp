#include "metric_collection.hpp"

#include <ouro/memory/block_registry.hpp>
#include <ouro/observe/detail/observe_image.hpp>
#include <ouro/observe/metrics.hpp>
#include <ouro/os/clock.hpp>

#include <algorithm>

namespace ouro {
namespace {

constexpr double kNsPerSecond = 1e9;

void take_tags(MetricsSnapshot& snapshot) noexcept {
    snapshot.tag_count =
        visit_uses([&](Tag tag, const TagUse& use) noexcept { snapshot.tags[tag.id()].use = use; });
    for (std::size_t id = 0; id < snapshot.tag_count; ++id)
        snapshot.tags[id].budget = budget_of(Tag::from_id(static_cast<std::uint16_t>(id)));
}

BlockMetrics take_blocks() noexcept {
    BlockMetrics blocks{.unlisted = unlisted_block_count()};
    visit_blocks([&](const BlockInfo& block) noexcept {
        if (block.kind == BlockKind::borrowed) return;
        ++blocks.count;
        blocks.reserved_bytes += block.reserved_bytes;
        blocks.committed_bytes += block.committed_bytes;
        if (!block.tells_use) blocks.untold_bytes += block.committed_bytes;
        blocks.used_bytes += std::min(block.cursor_bytes, block.committed_bytes);
    });
    return blocks;
}

void take_times(MetricsSnapshot& snapshot) noexcept {
    snapshot.slow_paths = {};
    snapshot.handler_ns = 0;
    detail::ObserveImage* const image = detail::observe_image();
    if (image == nullptr) return;
    const std::uint32_t shards = image->ledger.used_shards.load(std::memory_order_acquire);
    for (std::uint32_t index = 0; index < shards; ++index) {
        const detail::LedgerShard& shard = image->ledger.shards[index];
        snapshot.slow_paths.allocations += shard.slow_allocations.load(std::memory_order_relaxed);
        snapshot.slow_paths.time_ns += shard.slow_ns.load(std::memory_order_relaxed);
    }
    for (const detail::PressureState& state : image->pressure.monitors)
        snapshot.handler_ns += state.handler_ns.load(std::memory_order_relaxed);
}

void take_process(MetricsSnapshot& snapshot) noexcept {
    const auto process = os::process_memory();
    snapshot.process_status = process.status();
    snapshot.process = process.value_or(os::ProcessMemory{});
}

}  // namespace

double BlockMetrics::fragmentation() const noexcept {
    if (!knows_fragmentation()) return 0;
    const std::uint64_t told_bytes = committed_bytes - untold_bytes;
    return static_cast<double>(told_bytes - std::min(used_bytes, told_bytes)) /
           static_cast<double>(told_bytes);
}

std::uint64_t MetricsSnapshot::known_bytes() const noexcept {
    const std::uint64_t charged = tag_count == 0 ? 0 : tags[0].use.live_bytes;
    return std::max(blocks.committed_bytes, charged) + observe_cost.used_bytes;
}

std::int64_t MetricsSnapshot::untracked_bytes() const noexcept {
    if (process_status != Status::ok) return 0;
    return static_cast<std::int64_t>(process.resident_bytes - known_bytes());
}

const SourceMetrics* MetricsSnapshot::find_source(std::string_view name) const noexcept {
    const SourceMetrics* const end = sources.data() + source_count;
    const SourceMetrics* const found =
        std::find_if(sources.data(), end, [&](const SourceMetrics& source) { return source.name() == name; });
    return found == end ? nullptr : found;
}

void take_metrics(MetricsSnapshot& snapshot) noexcept {
    snapshot.time_ns = os::monotonic_ns();
    take_tags(snapshot);
    snapshot.blocks = take_blocks();
    take_times(snapshot);
    snapshot.observe_cost = observe_cost();
    take_process(snapshot);
    snapshot.source_count = detail::collect_metric_sources(snapshot.sources);
}

TagRates tag_rates(const MetricsSnapshot& before, const MetricsSnapshot& after, Tag tag) noexcept {
    if (after.time_ns <= before.time_ns || tag.id() >= after.tag_count) return {};
    const double seconds = static_cast<double>(after.time_ns - before.time_ns) / kNsPerSecond;
    // Tags that came later had nothing before.
    const TagUse was = tag.id() < before.tag_count ? before.tags[tag.id()].use : TagUse{};
    const TagUse& is = after.tags[tag.id()].use;
    const auto rate = [&](std::uint64_t from, std::uint64_t to) noexcept {
        return to > from ? static_cast<double>(to - from) / seconds : 0.0;
    };
    return {.allocations_per_second = rate(was.allocations, is.allocations),
            .frees_per_second = rate(was.frees, is.frees),
            .allocated_bytes_per_second = rate(was.allocated_bytes, is.allocated_bytes),
            .freed_bytes_per_second = rate(was.freed_bytes, is.freed_bytes)};
}

double source_rate(const MetricsSnapshot& before, const MetricsSnapshot& after, std::string_view source,
                   std::string_view key) noexcept {
    const SourceMetrics* const was = before.find_source(source);
    const SourceMetrics* const is = after.find_source(source);
    const MetricValue* const old_value = was == nullptr ? nullptr : was->find(key);
    const MetricValue* const value = is == nullptr ? nullptr : is->find(key);
    if (old_value == nullptr || value == nullptr || value->value < old_value->value) return 0;
    const auto growth = static_cast<double>(value->value - old_value->value);
    if (value->kind == MetricKind::share_of_totals)
        return value->whole > old_value->whole ? growth / static_cast<double>(value->whole - old_value->whole)
                                               : 0.0;
    if (value->kind != MetricKind::total || after.time_ns <= before.time_ns) return 0;
    return growth * kNsPerSecond / static_cast<double>(after.time_ns - before.time_ns);
}

}  // namespace ouro
