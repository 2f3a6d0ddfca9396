#include "report_parts.hpp"

#include <ouro/base/status.hpp>
#include <ouro/observe/events.hpp>

namespace ouro {
namespace {

using detail::EventRing;
using detail::EventSlot;
using detail::kEventSlots;

std::string kind_name(std::uint64_t kind) {
    return std::string(observe_event_kind_name(static_cast<ObserveEventKind>(kind)));
}

bool has_level(std::uint64_t kind) {
    const auto known = static_cast<ObserveEventKind>(kind);
    return known == ObserveEventKind::pressure_changed || known == ObserveEventKind::pressure_handled;
}

// As the ring's own reader knows it: even, and of this event.
bool holds(const EventSlot& slot, std::uint64_t number) {
    return load(slot.sequence) == 2 * number + 2;
}

EventReport read_slot(const EventSlot& slot, std::uint64_t number, const Report& report) {
    const std::uint64_t kinds = load(slot.words[1]);
    const auto status = static_cast<Status>(kinds >> 8 & 0xff);
    return {.number = number,
            .seconds_ago = seconds_between(load(slot.words[0]), report.taken_ns),
            .kind = kind_name(kinds & 0xff),
            .tag = name_of_tag(report, kinds >> 32 & 0xffff),
            .status = status == Status::ok ? "" : std::string(status_name(status)),
            .level = has_level(kinds & 0xff) ? level_text(kinds >> 16 & 0xff) : "",
            .bytes = load(slot.words[2]),
            .limit_bytes = load(slot.words[3]),
            .count = std::uint64_t{1} << (kinds >> 24 & 0x3f)};
}

}  // namespace

void read_events(const EventRing& ring, Report& report) {
    report.event_count = load(ring.next);
    const std::uint64_t kept = std::min<std::uint64_t>(report.event_count, kEventSlots);
    for (std::uint64_t back = 1; back <= kept; ++back) {
        const std::uint64_t number = report.event_count - back;
        const EventSlot& slot = ring.slots[number % kEventSlots];
        // Others are being written, or were lost.
        if (holds(slot, number)) report.events.push_back(read_slot(slot, number, report));
    }
}

}  // namespace ouro
