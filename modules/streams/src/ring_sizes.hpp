#pragma once

#include <cstdint>

namespace ouro::detail {

// How the history's memory is divided, found before anything is made.
struct RingSizes {
    std::uint32_t pages = 0;
    std::uint32_t ticks = 0;
    std::uint32_t slots = 0;
    // Versions that readers and kept futures may hold on to.
    std::uint32_t pinned = 0;
    // Versions in all; more than slots where they are packed.
    std::uint64_t versions = 0;
    // Pages that readers of packed ticks may have unpacked.
    std::uint32_t unpacked = 0;
    // Kept ticks of the thinned-out history, and all its ticks; none without.
    std::uint32_t thinned_groups = 0;
    std::uint32_t thinned_ticks = 0;
    // Some segment is fine.
    bool fine = false;
    // Has packed versions: because it was asked for, or as differences of lines.
    bool packs = false;
    // Each commit is verified.
    bool verifies = false;
    std::uint64_t bytes = 0;
};

}  // namespace ouro::detail
