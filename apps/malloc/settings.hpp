#pragma once

#include <cstddef>
#include <cstdint>

// What the environment variable OUROBOROS_MALLOC says: words separated by commas, `help` lists them.
namespace ouro::process_heap {

enum class ReportFormat : std::uint8_t { none, text, json };

inline constexpr std::size_t kMostProfileName = 255;

struct Settings {
    // Free memory above this is returned at once, but for as much as is in use, or was lately.
    std::size_t purge_bytes = std::size_t{32} << 20;
    // For memory of the heap beyond this the system is asked for huge pages; at first for none.
    std::size_t huge_from_bytes = ~std::size_t{0};
    // Memory that stayed free for this long is returned as well; zero: however long.
    std::size_t idle_ms = 1000;
    // A thread of our own sees to that, also when the program does nothing.
    bool background = false;
    ReportFormat report_at_exit = ReportFormat::none;
    // One allocation in so many is guarded, so many at once at most; zero: none.
    std::size_t guard_every = 0;
    std::size_t guard_slots = 1024;
    // Where a sample of the allocations goes, at which mean distance in bytes; no name: nowhere.
    char profile_file[kMostProfileName + 1] = {};
    std::size_t profile_bytes = std::size_t{512} << 10;
    // A signal that asks for a report; zero: none.
    int report_signal = 0;
    // The same for the beginning of the profile, and then for that of growth; zero: it begins with the
    // process.
    int profile_signal = 0;
};

[[nodiscard]] const Settings& settings() noexcept;

// Once, before anything else. Complains to standard error about what it does not understand, and goes on.
void read_settings() noexcept;

// The same from a text, for read_settings and its tests: false when a word was not understood.
bool apply_settings(const char* words, Settings& result) noexcept;

// Puts commas in place of the word `help`: who asked for it has it, and the programs that this one starts
// inherit the variable.
void forget_help(char* words) noexcept;

}  // namespace ouro::process_heap
