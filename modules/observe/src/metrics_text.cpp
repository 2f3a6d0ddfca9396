#include "metrics_writer.hpp"

#include <ouro/observe/metrics.hpp>

namespace ouro {
namespace {

using detail::MetricsWriter;

// "game > creatures".
void write_path(MetricsWriter& out, Tag tag) noexcept {
    if (const Tag parent = tag_parent(tag); !parent.is_untagged()) {
        write_path(out, parent);
        out.text(" > ");
    }
    out.text(tag_name(tag));
}

void write_memory(MetricsWriter& out, const MetricsSnapshot& snapshot) noexcept {
    out.text("known      ").bytes(snapshot.known_bytes()).text("\n");
    if (snapshot.process_status != Status::ok) {
        out.text("resident   unknown: ").text(status_name(snapshot.process_status)).text("\n");
        return;
    }
    const std::int64_t untracked = snapshot.untracked_bytes();
    const auto amount = static_cast<std::uint64_t>(untracked < 0 ? -untracked : untracked);
    out.text("untracked  ").text(untracked < 0 ? "-" : "").bytes(amount).text("\n");
    out.text("resident   ").bytes(snapshot.process.resident_bytes);
    out.text(", at most ").bytes(snapshot.process.peak_resident_bytes).text("\n");
}

void write_inside(MetricsWriter& out, const MetricsSnapshot& snapshot) noexcept {
    const BlockMetrics& blocks = snapshot.blocks;
    out.text("ranges     ").number(blocks.count).text(", committed ").bytes(blocks.committed_bytes);
    out.text(" of ").bytes(blocks.reserved_bytes).text(", fragmentation ");
    if (blocks.knows_fragmentation()) {
        out.decimal(blocks.fragmentation() * 100).text(" %");
    } else {
        out.text("-");
    }
    if (blocks.untold_bytes != 0) out.text(" (use of ").bytes(blocks.untold_bytes).text(" not told)");
    out.text("\n");
    out.text("observing  ").bytes(snapshot.observe_cost.used_bytes).text("\n");
    out.text("slow path  ").number(snapshot.slow_paths.allocations).text(" allocations in ");
    out.decimal(static_cast<double>(snapshot.slow_paths.time_ns) / 1e6).text(" ms\n");
    out.text("handlers   ").decimal(static_cast<double>(snapshot.handler_ns) / 1e6).text(" ms\n");
}

void write_tag(MetricsWriter& out, const MetricsSnapshot& snapshot, const MetricsSnapshot* before,
               Tag tag) noexcept {
    const TagMetrics& metrics = snapshot.tags[tag.id()];
    if (metrics.use.allocations == 0 && metrics.use.failures == 0) return;
    out.text("  ");
    if (tag.is_untagged()) {
        out.text("everything");
    } else {
        write_path(out, tag);
    }
    out.text(": live ").bytes(metrics.use.live_bytes);
    if (metrics.budget.hard_bytes != kNoBudget) out.text(" of ").bytes(metrics.budget.hard_bytes);
    out.text(metrics.use.is_peak_exact ? ", peak " : ", peak <= ").bytes(metrics.use.peak_bytes);
    out.text(", ").number(metrics.use.live_blocks).text(" blocks");
    if (metrics.use.failures != 0) out.text(", ").number(metrics.use.failures).text(" failures");
    if (before != nullptr) {
        const TagRates rates = tag_rates(*before, snapshot, tag);
        out.text(", ").decimal(rates.allocations_per_second).text(" allocations/s, ");
        out.bytes(static_cast<std::uint64_t>(rates.allocated_bytes_per_second)).text("/s");
    }
    out.text("\n");
}

void write_amount(MetricsWriter& out, MetricUnit unit, std::uint64_t value) noexcept {
    switch (unit) {
        case MetricUnit::count:
            out.number(value);
            return;
        case MetricUnit::bytes:
            out.bytes(value);
            return;
        case MetricUnit::nanoseconds:
            out.decimal(static_cast<double>(value) / 1e6).text(" ms");
            return;
    }
}

void write_value(MetricsWriter& out, const MetricsSnapshot& snapshot, const MetricsSnapshot* before,
                 std::string_view source, const MetricValue& value) noexcept {
    out.text("    ").text(value.key()).text(" ");
    const bool is_share = value.kind == MetricKind::share || value.kind == MetricKind::share_of_totals;
    if (is_share) {
        out.decimal(value.share() * 100).text(" %");
    } else {
        write_amount(out, value.unit, value.value);
    }
    if (before != nullptr && value.kind == MetricKind::total)
        out.text(", ").decimal(source_rate(*before, snapshot, source, value.key())).text("/s");
    if (before != nullptr && value.kind == MetricKind::share_of_totals)
        out.text(", lately ").decimal(source_rate(*before, snapshot, source, value.key()) * 100).text(" %");
    out.text("\n");
}

}  // namespace

void write_metrics_text(const ByteSink& sink, const MetricsSnapshot& snapshot,
                        const MetricsSnapshot* before) noexcept {
    MetricsWriter out(sink);
    write_memory(out, snapshot);
    write_inside(out, snapshot);
    out.text("tags\n");
    for (std::size_t id = 0; id < snapshot.tag_count; ++id)
        write_tag(out, snapshot, before, Tag::from_id(static_cast<std::uint16_t>(id)));
    for (std::size_t i = 0; i < snapshot.source_count; ++i) {
        const SourceMetrics& source = snapshot.sources[i];
        out.text("source ").text(source.name()).text("\n");
        for (std::size_t at = 0; at < source.count; ++at)
            write_value(out, snapshot, before, source.name(), source.values[at]);
    }
}

}  // namespace ouro
