#include "metrics_writer.hpp"

#include <ouro/observe/metrics.hpp>

namespace ouro {
namespace {

using detail::MetricsWriter;

// An object or a list of JSON, with the commas between its members.
class Members {
public:
    Members(MetricsWriter& out, char open, char close) noexcept : out_(out), close_(close) {
        out_.text({&open, 1});
    }
    ~Members() { out_.text({&close_, 1}); }
    Members(const Members&) = delete;
    Members& operator=(const Members&) = delete;

    MetricsWriter& next() noexcept {
        if (!is_first_) out_.text(",");
        is_first_ = false;
        return out_;
    }
    MetricsWriter& key(std::string_view name) noexcept { return next().quoted(name).text(":"); }
    void number(std::string_view name, std::uint64_t value) noexcept { key(name).number(value); }
    void decimal(std::string_view name, double value) noexcept { key(name).decimal(value); }
    void string(std::string_view name, std::string_view value) noexcept { key(name).quoted(value); }

private:
    MetricsWriter& out_;
    char close_;
    bool is_first_ = true;
};

void write_budget(Members& members, std::string_view name, std::size_t bytes) noexcept {
    if (bytes == kNoBudget) {
        members.key(name).text("null");
    } else {
        members.number(name, bytes);
    }
}

void write_tag(MetricsWriter& out, const MetricsSnapshot& snapshot, const MetricsSnapshot* before,
               Tag tag) noexcept {
    const TagMetrics& metrics = snapshot.tags[tag.id()];
    Members members(out, '{', '}');
    members.number("id", tag.id());
    // With all below it, which is all there is.
    members.string("name", tag.is_untagged() ? "everything" : tag_name(tag));
    if (!tag.is_untagged()) members.number("parent", tag_parent(tag).id());
    members.number("live_bytes", metrics.use.live_bytes);
    members.number("live_blocks", metrics.use.live_blocks);
    members.number("peak_bytes", metrics.use.peak_bytes);
    members.number("allocations", metrics.use.allocations);
    members.number("frees", metrics.use.frees);
    members.number("allocated_bytes", metrics.use.allocated_bytes);
    members.number("freed_bytes", metrics.use.freed_bytes);
    members.number("failures", metrics.use.failures);
    write_budget(members, "soft_bytes", metrics.budget.soft_bytes);
    write_budget(members, "hard_bytes", metrics.budget.hard_bytes);
    if (before == nullptr) return;
    const TagRates rates = tag_rates(*before, snapshot, tag);
    members.decimal("allocations_per_second", rates.allocations_per_second);
    members.decimal("frees_per_second", rates.frees_per_second);
    members.decimal("allocated_bytes_per_second", rates.allocated_bytes_per_second);
    members.decimal("freed_bytes_per_second", rates.freed_bytes_per_second);
}

std::string_view unit_name(MetricUnit unit) noexcept {
    switch (unit) {
        case MetricUnit::count:
            return "count";
        case MetricUnit::bytes:
            return "bytes";
        case MetricUnit::nanoseconds:
            return "nanoseconds";
    }
    return "unknown";
}

void write_value(MetricsWriter& out, const MetricsSnapshot& snapshot, const MetricsSnapshot* before,
                 std::string_view source, const MetricValue& value) noexcept {
    Members members(out, '{', '}');
    members.string("key", value.key());
    members.string("unit", unit_name(value.unit));
    members.number("value", value.value);
    const bool is_share = value.kind == MetricKind::share || value.kind == MetricKind::share_of_totals;
    if (is_share) {
        members.number("whole", value.whole);
        members.decimal("share", value.share());
    }
    if (before == nullptr) return;
    if (value.kind == MetricKind::total)
        members.decimal("per_second", source_rate(*before, snapshot, source, value.key()));
    if (value.kind == MetricKind::share_of_totals)
        members.decimal("share_since", source_rate(*before, snapshot, source, value.key()));
}

void write_source(MetricsWriter& out, const MetricsSnapshot& snapshot, const MetricsSnapshot* before,
                  const SourceMetrics& source) noexcept {
    Members members(out, '{', '}');
    members.string("name", source.name());
    members.number("dropped", source.dropped);
    members.key("values");
    Members values(out, '[', ']');
    for (std::size_t i = 0; i < source.count; ++i) {
        values.next();
        write_value(out, snapshot, before, source.name(), source.values[i]);
    }
}

void write_process(MetricsWriter& out, Members& members, const MetricsSnapshot& snapshot) noexcept {
    members.number("known_bytes", snapshot.known_bytes());
    if (snapshot.process_status != Status::ok) {
        members.key("process").text("null");
        members.key("untracked_bytes").text("null");
        return;
    }
    members.key("untracked_bytes").signed_number(snapshot.untracked_bytes());
    members.key("process");
    Members process(out, '{', '}');
    process.number("resident_bytes", snapshot.process.resident_bytes);
    process.number("peak_resident_bytes", snapshot.process.peak_resident_bytes);
    process.number("virtual_bytes", snapshot.process.virtual_bytes);
}

void write_blocks(MetricsWriter& out, const BlockMetrics& metrics) noexcept {
    Members blocks(out, '{', '}');
    blocks.number("count", metrics.count);
    blocks.number("unlisted", metrics.unlisted);
    blocks.number("reserved_bytes", metrics.reserved_bytes);
    blocks.number("committed_bytes", metrics.committed_bytes);
    blocks.number("used_bytes", metrics.used_bytes);
    blocks.number("untold_bytes", metrics.untold_bytes);
    if (metrics.knows_fragmentation()) {
        blocks.decimal("fragmentation", metrics.fragmentation());
    } else {
        blocks.key("fragmentation").text("null");
    }
}

}  // namespace

void write_metrics_json(const ByteSink& sink, const MetricsSnapshot& snapshot,
                        const MetricsSnapshot* before) noexcept {
    MetricsWriter out(sink);
    Members members(out, '{', '}');
    members.number("time_ns", snapshot.time_ns);
    if (before != nullptr) members.number("since_ns", before->time_ns);
    write_process(out, members, snapshot);
    members.number("observe_reserved_bytes", snapshot.observe_cost.reserved_bytes);
    members.number("observe_used_bytes", snapshot.observe_cost.used_bytes);
    members.key("blocks");
    write_blocks(out, snapshot.blocks);
    members.number("slow_allocations", snapshot.slow_paths.allocations);
    members.number("slow_ns", snapshot.slow_paths.time_ns);
    members.number("pressure_handler_ns", snapshot.handler_ns);
    members.key("tags");
    {
        Members tags(out, '[', ']');
        for (std::size_t id = 0; id < snapshot.tag_count; ++id) {
            tags.next();
            write_tag(out, snapshot, before, Tag::from_id(static_cast<std::uint16_t>(id)));
        }
    }
    members.key("sources");
    Members sources(out, '[', ']');
    for (std::size_t i = 0; i < snapshot.source_count; ++i) {
        sources.next();
        write_source(out, snapshot, before, snapshot.sources[i]);
    }
}

}  // namespace ouro
