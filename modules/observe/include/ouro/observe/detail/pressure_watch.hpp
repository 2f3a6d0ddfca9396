#pragma once

#include <ouro/memory/tag.hpp>
#include <ouro/observe/detail/ledger_layout.hpp>

#include <atomic>
#include <cstdint>

namespace ouro::detail {

// Where a monitor wants the ledger to tell that a tag's use has grown. All fields belong to the functions
// below, which may be called from any thread.
struct PressureWatch {
    Tag tag;
    std::int64_t alarm = kUnbounded;
    // When it was reached; zero when it was not.
    std::atomic<std::uint64_t> crossed_ns{0};
    PressureWatch* next = nullptr;
};

void add_watch(PressureWatch& watch) noexcept;
void remove_watch(PressureWatch& watch) noexcept;

inline constexpr std::uint32_t kNoAlarm = ~std::uint32_t{0};

// From now on the alarm is at this share of the tag's hard budget, if it has one. Tells at once when that is
// reached already.
void set_alarm(PressureWatch& watch, Tag tag, std::uint32_t percent) noexcept;
// Whether take_crossing would return something. A few loads.
[[nodiscard]] bool has_crossing(const PressureWatch& watch) noexcept;
// When the alarm was reached, once; zero when it was not.
[[nodiscard]] std::uint64_t take_crossing(PressureWatch& watch) noexcept;

// The tag's hard budget is another: those who watch it look again.
void renew_alarms(Tag tag) noexcept;

// An alarm was reached: wakes sleepers, when there are any.
void ring_alarm() noexcept;
// How often that was.
[[nodiscard]] std::uint32_t alarm_count() noexcept;
// Sleeps until there were more, or the time is over.
void sleep_until_alarm(std::uint32_t seen, std::uint64_t timeout_ns) noexcept;

}  // namespace ouro::detail
