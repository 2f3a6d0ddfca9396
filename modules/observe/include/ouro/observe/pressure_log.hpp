#pragma once

#include <ouro/memory/tag.hpp>
#include <ouro/observe/detail/pressure_image.hpp>
#include <ouro/observe/pressure_options.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// What pressure handlers have done, in a ring that keeps the latest calls of all monitors.
namespace ouro {

struct PressureRecord {
    // Of all calls since the program began, from zero.
    std::uint64_t number = 0;
    // By the monitor's clock.
    std::uint64_t time_ns = 0;
    std::uint64_t duration_ns = 0;
    Tag tag = {};
    // What the handler was asked for: at least the level that there was.
    PressureLevel level = PressureLevel::none;
    PressureSource source = PressureSource::none;
    std::uint64_t wanted_bytes = 0;
    // What the handler said, and by how much the tag's live bytes had fallen; others may have allocated
    // meanwhile, and memory that no ledger knows of does not show there.
    std::uint64_t reported_bytes = 0;
    std::uint64_t ledger_bytes = 0;
    // Of the source, before the call.
    std::uint64_t used_bytes = 0;
    std::array<char, detail::kHandlerNameBytes + 1> name_text{};

    [[nodiscard]] std::string_view name() const noexcept { return name_text.data(); }
};

// Reads on from a cursor that begins at zero or at pressure_log_count().
struct PressureLogRead {
    std::size_t count = 0;
    // Records that were overwritten before they were read.
    std::uint64_t lost = 0;
};
PressureLogRead read_pressure_log(std::uint64_t& cursor, std::span<PressureRecord> records) noexcept;

[[nodiscard]] std::uint64_t pressure_log_count() noexcept;

}  // namespace ouro
