#include "report_parts.hpp"

#include <ouro/observe/pressure.hpp>

#include <cstring>

namespace ouro {
namespace {

using detail::kHandlerNameBytes;
using detail::kPressureSlots;
using detail::PressureRing;
using detail::PressureSlot;
using detail::PressureState;

constexpr double kNanosecondsPerSecond = 1e9;

double seconds(std::uint64_t ns) {
    return static_cast<double>(ns) / kNanosecondsPerSecond;
}

std::string source_text(std::uint64_t source) {
    const bool is_known = source <= static_cast<std::uint64_t>(PressureSource::stalls);
    return is_known ? std::string(pressure_source_name(static_cast<PressureSource>(source))) : "unknown";
}

PressureLatency read_latency(const PressureState& state) {
    PressureLatency latency;
    latency.min_ns = load(state.latency_min_ns);
    latency.max_ns = load(state.latency_max_ns);
    for (std::size_t index = 0; index < latency.buckets.size(); ++index) {
        // So few that their sum cannot wrap, whatever they are.
        latency.buckets[index] = load(state.latency_buckets[index]) & 0xffff'ffff;
        latency.count += latency.buckets[index];
    }
    return latency;
}

MonitorReport read_monitor(const PressureState& state, const Report& report) {
    const PressureLatency latency = read_latency(state);
    return {.tag = load(state.tag) == 0 ? "everything" : name_of_tag(report, load(state.tag)),
            .level = level_text(load(state.level)),
            .source = source_text(load(state.source)),
            .used_bytes = load(state.used_bytes),
            .limit_bytes = load(state.limit_bytes),
            .looks = load(state.looks),
            .level_changes = load(state.level_changes),
            .handler_calls = load(state.handler_calls),
            .reliefs = load(state.reliefs),
            .failures = load(state.failures),
            .reported_bytes = load(state.reported_bytes),
            .freed_bytes = load(state.freed_bytes),
            .handler_seconds = seconds(load(state.handler_ns)),
            .crossings = latency.count,
            .least_latency_seconds = seconds(latency.min_ns),
            .median_latency_seconds = seconds(latency.median_ns()),
            .most_latency_seconds = seconds(latency.max_ns)};
}

HandlerCallReport read_call(const PressureSlot& slot, std::uint64_t number, const Report& report) {
    const std::uint64_t kinds = load(slot.numbers[2]);
    std::array<char, kHandlerNameBytes + 1> name{};
    for (std::size_t word = 0; word < slot.name.size(); ++word) {
        const std::uint64_t letters = load(slot.name[word]);
        std::memcpy(name.data() + word * sizeof letters, &letters, sizeof letters);
    }
    return {.number = number,
            .seconds_ago = seconds_between(load(slot.numbers[0]), report.taken_ns),
            .duration_seconds = seconds(load(slot.numbers[1])),
            .handler = printable(name),
            .tag = name_of_tag(report, kinds >> 16 & 0xffff),
            .level = level_text(kinds & 0xff),
            .source = source_text(kinds >> 8 & 0xff),
            .wanted_bytes = load(slot.numbers[3]),
            .reported_bytes = load(slot.numbers[4]),
            .freed_bytes = load(slot.numbers[5])};
}

}  // namespace

std::string level_text(std::uint64_t level) {
    const bool is_known = level <= static_cast<std::uint64_t>(PressureLevel::critical);
    return is_known ? std::string(pressure_level_name(static_cast<PressureLevel>(level))) : "unknown";
}

void read_pressure(const detail::PressureImage& image, Report& report) {
    for (const PressureState& state : image.monitors) {
        if (load(state.is_used) != 0) report.monitors.push_back(read_monitor(state, report));
    }
    report.handler_call_count = load(image.log.next);
    const std::uint64_t kept = std::min<std::uint64_t>(report.handler_call_count, kPressureSlots);
    for (std::uint64_t back = 1; back <= kept; ++back) {
        const std::uint64_t number = report.handler_call_count - back;
        const PressureSlot& slot = image.log.slots[number % kPressureSlots];
        if (load(slot.sequence) == number + 1)
            report.handler_calls.push_back(read_call(slot, number, report));
    }
}

}  // namespace ouro
