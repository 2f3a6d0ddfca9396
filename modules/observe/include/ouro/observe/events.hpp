#pragma once

#include <ouro/base/status.hpp>
#include <ouro/memory/tag.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// What happened to budgets and pressure, in a ring that keeps the latest. Adding one takes no lock and calls
// nobody, so that an allocation may do it; whoever wants to know reads along.
namespace ouro {

enum class ObserveEventKind : std::uint8_t {
    // A tag's use passed its soft budget. Again only after it has fallen clearly below.
    soft_budget_passed = 1,
    // A request was refused: by a hard budget, or by a rate limit, for which limit_bytes is zero. Of refusals
    // that follow one another under a tag, with less than a second between them and no bound set, the first
    // is told, then the second, the fourth, and so on: `count` says which it was. The ledger counts them all.
    request_refused = 2,
    // The pressure became level `level`, up or down: so many bytes of the limit that gives the reason. Of
    // those
    // that follow one another under a tag with less than a second between them the first 16 are told, then
    // the
    // 32nd, the 64th, and so on: `count` says which it was. The monitor's report has the level of now.
    pressure_changed = 3,
    // A handler has run, asked as for level `level`: `bytes` is what was seen to become free, `limit_bytes`
    // what was wanted. After the change of level that it brought about. Told as seldom as changes; the
    // pressure
    // log has the latest calls one by one.
    pressure_handled = 4,
    // A tag's use was at its highest, by more than the profiler's threshold.
    new_peak = 5,
    // A tag's use rose by more than that between two looks.
    spike = 6,
};

// As the report tells it: "soft_budget_passed"; "unknown" for a number that is none.
[[nodiscard]] std::string_view observe_event_kind_name(ObserveEventKind kind) noexcept;

struct ObserveEvent {
    // Of all events since the program began, from zero.
    std::uint64_t number = 0;
    // os::monotonic_ns.
    std::uint64_t time_ns = 0;
    ObserveEventKind kind = {};
    Status status = Status::ok;
    std::uint8_t level = 0;
    Tag tag = {};
    // What was in use, or asked for, or freed; and the bound that it met.
    std::uint64_t bytes = 0;
    std::uint64_t limit_bytes = 0;
    // How many such there were in a row, this one included; a power of two.
    std::uint64_t count = 1;
};

// Adds an event with the next number and the present time, unless it is one in a row that is not told. From
// any thread.
void post_event(const ObserveEvent& event) noexcept;

// Reads on from a cursor that begins at zero or at event_count().
struct EventsRead {
    std::size_t count = 0;
    // Events that were overwritten before they were read.
    std::uint64_t lost = 0;
};
EventsRead read_events(std::uint64_t& cursor, std::span<ObserveEvent> events) noexcept;

[[nodiscard]] std::uint64_t event_count() noexcept;

}  // namespace ouro
