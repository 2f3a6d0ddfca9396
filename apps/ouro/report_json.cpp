#include "report_json.hpp"

namespace ouro {
namespace {

using nlohmann::ordered_json;

template <class Value>
ordered_json or_null(const std::optional<Value>& value) {
    return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json rate_limit_json(const std::optional<RateReport>& limit) {
    if (!limit) return nullptr;
    return {{"bytes", or_null(limit->bytes)},
            {"requests", or_null(limit->requests)},
            {"seconds", limit->seconds}};
}

ordered_json tag_json(const TagReport& tag) {
    ordered_json failures = ordered_json::object();
    for (const FailureCount& failure : tag.failures)
        failures[failure.reason] = failure.count;
    ordered_json json{{"id", tag.id},
                      {"name", tag.name},
                      {"parent", tag.id == 0 ? ordered_json(nullptr) : ordered_json(tag.parent)},
                      {"live_bytes", tag.live_bytes},
                      {"own_live_bytes", tag.own_live_bytes},
                      {"live_blocks", tag.live_blocks},
                      {"peak_bytes", tag.peak_bytes},
                      {"is_peak_exact", tag.is_peak_exact},
                      {"allocations", tag.allocations},
                      {"frees", tag.frees},
                      {"allocated_bytes", tag.allocated_bytes},
                      {"freed_bytes", tag.freed_bytes},
                      {"soft_bytes", or_null(tag.soft_bytes)},
                      {"hard_bytes", or_null(tag.hard_bytes)},
                      {"is_rate_limited", tag.rate_limit.has_value()},
                      {"rate_limit", rate_limit_json(tag.rate_limit)},
                      {"failures", failures}};
    if (tag.allocations_per_second) json["allocations_per_second"] = *tag.allocations_per_second;
    if (tag.allocated_bytes_per_second) json["allocated_bytes_per_second"] = *tag.allocated_bytes_per_second;
    return json;
}

ordered_json event_json(const EventReport& event) {
    return {{"number", event.number},
            {"seconds_ago", event.seconds_ago},
            {"kind", event.kind},
            {"tag", event.tag},
            {"status", event.status.empty() ? "ok" : event.status},
            {"level", event.level.empty() ? ordered_json(nullptr) : ordered_json(event.level)},
            {"bytes", event.bytes},
            {"limit_bytes", event.limit_bytes},
            {"count", event.count}};
}

ordered_json monitor_json(const MonitorReport& monitor) {
    return {{"tag", monitor.tag},
            {"level", monitor.level},
            {"source", monitor.source},
            {"used_bytes", monitor.used_bytes},
            {"limit_bytes", monitor.limit_bytes},
            {"looks", monitor.looks},
            {"level_changes", monitor.level_changes},
            {"handler_calls", monitor.handler_calls},
            {"reliefs", monitor.reliefs},
            {"failures", monitor.failures},
            {"reported_bytes", monitor.reported_bytes},
            {"freed_bytes", monitor.freed_bytes},
            {"handler_seconds", monitor.handler_seconds},
            {"latency_seconds",
             {{"count", monitor.crossings},
              {"least", monitor.least_latency_seconds},
              {"median", monitor.median_latency_seconds},
              {"most", monitor.most_latency_seconds}}}};
}

ordered_json call_json(const HandlerCallReport& call) {
    return {{"number", call.number},
            {"seconds_ago", call.seconds_ago},
            {"duration_seconds", call.duration_seconds},
            {"handler", call.handler},
            {"tag", call.tag},
            {"level", call.level},
            {"source", call.source},
            {"wanted_bytes", call.wanted_bytes},
            {"reported_bytes", call.reported_bytes},
            {"freed_bytes", call.freed_bytes}};
}

ordered_json frame_json(const FrameReport& frame) {
    return {{"address", frame.address}, {"function", frame.function}, {"file", frame.file},
            {"line", frame.line},       {"module", frame.module},     {"module_offset", frame.module_offset}};
}

ordered_json amount_json(const AmountReport& amount) {
    return {{"bytes", amount.bytes}, {"blocks", amount.blocks}};
}

template <class Entry, class Convert>
ordered_json list_json(const std::vector<Entry>& entries, Convert convert) {
    ordered_json list = ordered_json::array();
    for (const Entry& entry : entries)
        list.push_back(convert(entry));
    return list;
}

ordered_json site_json(const SiteReport& site) {
    return {{"number", site.number},
            {"tag", site.tag},
            {"live", amount_json(site.live)},
            {"allocated", amount_json(site.allocated)},
            {"temporary", amount_json(site.temporary)},
            {"growth_bytes", site.growth_bytes},
            {"peak_bytes", site.peak_bytes},
            {"samples", site.samples},
            {"live_samples", site.live_samples},
            {"stack", list_json(site.frames, frame_json)}};
}

ordered_json profile_json(const std::optional<ProfileReport>& profile) {
    if (!profile) return nullptr;
    return {{"is_running", profile->is_running},
            {"seconds", profile->seconds},
            {"mean_bytes", profile->mean_bytes},
            {"samples", profile->samples},
            {"dropped_sites", profile->dropped_sites},
            {"dropped_blocks", profile->dropped_blocks},
            {"live", amount_json(profile->live)},
            {"peak_bytes", profile->peak_bytes},
            {"sites", list_json(profile->sites, site_json)}};
}

ordered_json moment_json(const MomentReport& moment) {
    ordered_json tags = ordered_json::object();
    for (const TagMoment& tag : moment.tags)
        tags[tag.tag] = tag.live_bytes;
    return {{"seconds_ago", moment.seconds_ago},
            {"live_bytes", moment.live_bytes},
            {"live_blocks", moment.live_blocks},
            {"resident_bytes", moment.resident_bytes},
            {"listed_bytes", moment.listed_bytes},
            {"record_bytes", moment.record_bytes},
            {"allocated_bytes", moment.allocated_bytes},
            {"freed_bytes", moment.freed_bytes},
            {"allocations", moment.allocations},
            {"untracked_bytes", or_null(moment.untracked_bytes)},
            {"tags", tags}};
}

ordered_json block_tag_json(const BlockTagReport& tag) {
    return {{"tag", tag.tag},
            {"blocks", tag.blocks},
            {"committed_bytes", tag.committed_bytes},
            {"high_water_bytes", or_null(tag.high_water_bytes)}};
}

ordered_json block_json(const BlockReport& block) {
    return {{"name", block.name},
            {"tag", block.tag},
            {"kind", block.kind},
            {"reserved_bytes", block.reserved_bytes},
            {"committed_bytes", block.committed_bytes},
            {"high_water_bytes", or_null(block.high_water_bytes)}};
}

ordered_json blocks_json(const BlocksReport& blocks) {
    return {{"committed_bytes", blocks.committed_bytes},
            {"unlisted", blocks.unlisted},
            {"tags", list_json(blocks.tags, block_tag_json)},
            {"list", list_json(blocks.list, block_json)}};
}

}  // namespace

ordered_json report_json(const Report& report) {
    return {{"program", report.program},
            {"process_id", report.process_id},
            {"is_live", report.is_live},
            {"observed_seconds", report.running_seconds},
            {"threads", report.threads},
            {"record_bytes", report.record_bytes},
            {"has_records", report.has_records},
            {"records", {{"number", report.record_set}, {"count", report.record_sets}}},
            {"tags", list_json(report.tags, tag_json)},
            {"blocks", blocks_json(report.blocks)},
            {"event_count", report.event_count},
            {"events", list_json(report.events, event_json)},
            {"profile", profile_json(report.profile)},
            {"profile_awaits_signal",
             report.awaited_signal.empty() ? ordered_json(nullptr) : ordered_json(report.awaited_signal)},
            {"timeline", list_json(report.timeline, moment_json)},
            {"pressure",
             {{"monitors", list_json(report.monitors, monitor_json)},
              {"handler_call_count", report.handler_call_count},
              {"handler_calls", list_json(report.handler_calls, call_json)}}}};
}

}  // namespace ouro
