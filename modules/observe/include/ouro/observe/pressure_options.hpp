#pragma once

#include <ouro/memory/tag.hpp>
#include <ouro/observe/machine_memory.hpp>
#include <ouro/os/clock.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

// What pressure is: how full a budget or the machine is, in levels.
namespace ouro {

enum class PressureLevel : std::uint8_t { none, low, medium, high, critical };

// Who says so.
enum class PressureSource : std::uint8_t {
    none,
    // A tag's hard budget.
    budget,
    // The limit of the control group that the program runs in.
    group,
    // The machine's memory.
    system,
    // One of the last two, and tasks wait for memory beside it.
    stalls,
};

[[nodiscard]] std::string_view pressure_level_name(PressureLevel level) noexcept;
[[nodiscard]] std::string_view pressure_source_name(PressureSource source) noexcept;

// From which share of a limit on each level holds. A level is left again when the share is below that by
// more than the hysteresis.
struct PressureThresholds {
    std::uint32_t low_percent = 60;
    std::uint32_t medium_percent = 80;
    std::uint32_t high_percent = 90;
    std::uint32_t critical_percent = 95;
    std::uint32_t hysteresis_percent = 5;
};

// Tasks that wait for memory make what the machine's limits say worse: by one level where some wait for such
// a share of the time, by two where all do. They are no reason on their own, since a neighbour in a small
// group of its own may be the one who waits. It ends at half of these shares.
struct StallThresholds {
    double some_percent = 10;
    double full_percent = 5;
};

struct PressureOptions {
    // Whose hard budget is watched, together with all below it; the whole program's for the untagged one.
    // Without a hard budget it never gives a reason. Where several threads allocate, a crossing may be
    // noticed late by what they hold as credit, never by more than 512 KiB a thread.
    Tag tag = {};
    PressureThresholds thresholds{};

    bool watches_machine = true;
    StallThresholds stalls{};
    // How often the machine is asked at most.
    std::uint64_t machine_interval_ns = 1'000'000'000;
    // Tests, and those who know the limits better, bring their own.
    MachineMemory (*read_machine)(void* context) noexcept = read_machine_memory;
    void* machine_context = nullptr;

    // How long handlers that were of no use are left alone; twice as long each time, up to the longest. A
    // level higher than before ends that. Short at first: a worker may come before the program has put what
    // it allocated where a handler finds it.
    std::uint64_t first_pause_ns = 1'000'000;
    std::uint64_t longest_pause_ns = 10'000'000'000;

    // Nanoseconds that never go backwards.
    std::uint64_t (*clock)() noexcept = os::monotonic_ns;
};

}  // namespace ouro
