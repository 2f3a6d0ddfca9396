#pragma once

#include "frame_rule.hpp"
#include "table_reader.hpp"

#include <cstdint>

// The small programs of unwind tables, which say where a function's caller left what, address by address.
namespace ouro::os {

// A register of the caller: where it is, as far as that can be told in a rule.
enum class SavedPlace : std::uint8_t { unchanged, below_end, at_frame, undefined, elsewhere };
struct SavedRegister {
    SavedPlace place = SavedPlace::unchanged;
    // From the frame's end, in bytes.
    std::int64_t offset = 0;
};

// What holds at an address.
struct FrameRow {
    enum class EndKind : std::uint8_t { unknown, from_register, saved_in_frame };
    EndKind end = EndKind::unknown;
    std::uint64_t end_register = 0;
    std::int64_t end_offset = 0;
    // From the frame pointer to the word that holds it.
    std::int64_t saved_end_offset = 0;
    SavedRegister frame_pointer;
    SavedRegister return_address;
};

// What a program's numbers mean.
struct ProgramUnits {
    std::uint64_t code = 1;
    std::int64_t data = 1;
};

// Runs a program from the function's start on, up to the row of an address. The first row is what the
// program's common part has left, or fresh for that itself. False when it does what no row can hold.
[[nodiscard]] bool run_frame_program(TableReader program, const ProgramUnits& units, std::uint64_t start,
                                     std::uint64_t address, FrameRow& row) noexcept;

// What a row comes to.
[[nodiscard]] FrameRule rule_of(const FrameRow& row) noexcept;

}  // namespace ouro::os
