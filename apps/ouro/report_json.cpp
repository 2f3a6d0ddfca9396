#include "report_json.hpp"

namespace ouro {
namespace {

using nlohmann::ordered_json;

template <class Value>
ordered_json or_null(const std::optional<Value>& value) {
    return value ? ordered_json(*value) : ordered_json(nullptr);
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
                      {"allocations", tag.allocations},
                      {"frees", tag.frees},
                      {"allocated_bytes", tag.allocated_bytes},
                      {"freed_bytes", tag.freed_bytes},
                      {"soft_bytes", or_null(tag.soft_bytes)},
                      {"hard_bytes", or_null(tag.hard_bytes)},
                      {"is_rate_limited", tag.is_rate_limited},
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
            {"level", event.level},
            {"bytes", event.bytes},
            {"limit_bytes", event.limit_bytes}};
}

}  // namespace

ordered_json report_json(const Report& report) {
    ordered_json json{{"program", report.program},      {"process_id", report.process_id},
                      {"is_live", report.is_live},      {"observed_seconds", report.running_seconds},
                      {"threads", report.threads},      {"record_bytes", report.record_bytes},
                      {"tags", ordered_json::array()},  {"event_count", report.event_count},
                      {"events", ordered_json::array()}};
    for (const TagReport& tag : report.tags)
        json["tags"].push_back(tag_json(tag));
    for (const EventReport& event : report.events)
        json["events"].push_back(event_json(event));
    return json;
}

}  // namespace ouro
