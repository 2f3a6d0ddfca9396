#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/memory/memory_error.hpp>
#include <ouro/observe/byte_sink.hpp>
#include <ouro/os/heap_calls.hpp>
#include <ouro/os/reservation.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace ouro {

// A place in the code that took memory from the process.
struct EscapeSite {
    static constexpr std::size_t kMaxFrames = 8;

    // As HeapCall says it.
    const char* function = nullptr;
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    // Where the first of these calls returns to, and its callers.
    std::array<void*, kMaxFrames> frames{};
    std::size_t frame_count = 0;

    // A byte of the instruction that called, for finding names. Requires: index < frame_count.
    [[nodiscard]] const void* code_of(std::size_t index) const noexcept {
        return static_cast<const char*>(frames[index]) - 1;
    }
};

namespace detail {
struct EscapeTable;
}

// Finds what escapes: while it lives, each allocation by which some libraries, or the program itself, go to
// the process's heap instead of the one they were given is counted and its place in the code is kept. What
// escapes and lives longer than a tick is not rolled back.
//
//     constexpr std::string_view libraries[] = {"libBulletCollision", os::HeapCallWatch::kProgram};
//     {
//         auto scope = EscapeScope::begin(libraries);
//         make_world();
//         scope->write(to_stderr);  // libBulletCollision.so.3.24: 1 allocation, 96 B, first from ...
//     }
//
// Calls of all threads count. One at a time in a process; see os::HeapCallWatch for what it sees.
class EscapeScope {
public:
    // Beyond so many places, calls are counted but not told apart.
    static constexpr std::size_t kMaxSites = 256;

    // Fails as os::HeapCallWatch::create and os::Reservation::create do.
    [[nodiscard]] static Expected<EscapeScope> begin(std::span<const std::string_view> libraries) noexcept;

    EscapeScope(EscapeScope&& other) noexcept = default;
    EscapeScope& operator=(EscapeScope&& other) = delete;

    [[nodiscard]] std::uint64_t calls() const noexcept;
    [[nodiscard]] std::uint64_t bytes() const noexcept;
    // Zero: the libraries know no function that allocates.
    [[nodiscard]] std::size_t import_count() const noexcept { return watch_.import_count(); }

    // In the order in which they were seen first; exact while nobody allocates.
    [[nodiscard]] std::span<const EscapeSite> sites() const noexcept;

    // One line for each library or program: how many allocations, how many bytes, and who was first; where
    // there are several places, the largest of them below. symbolized_reports.hpp has a describer that knows
    // all names.
    void write(const ByteSink& sink, CallSiteDescriber describer = locate_call_site) const noexcept;

private:
    EscapeScope(os::Reservation&& memory, os::HeapCallWatch&& watch) noexcept
        : memory_(std::move(memory)), watch_(std::move(watch)) {}

    [[nodiscard]] detail::EscapeTable& table() const noexcept;

    // Outlives the watch.
    os::Reservation memory_;
    os::HeapCallWatch watch_;
};

}  // namespace ouro
