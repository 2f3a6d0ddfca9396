#pragma once

#include <ouro/memory/detail/build_settings.hpp>

#include <cstdint>
#include <string_view>

#ifndef OURO_HARDENING
#    define OURO_HARDENING 0
#endif

namespace ouro {

namespace detail {
OURO_ASK_FOR_SETTING(OURO_HARDENING_, OURO_HARDENING)
}  // namespace detail

// How much memory bugs cost, and how many of them are found. docs/hardening.md has the table.
enum class HardeningTier : std::uint8_t {
    // Nothing is added: not a byte, not an instruction.
    off,
    // Canaries around each block, fill patterns, a record of each block with its call sites, a quarantine.
    checked,
    // Besides, blocks on pages of their own against a page that faults: all of them, or one in so many.
    hardened,
};

// What was chosen when building, with OURO_HARDENING=off|checked|hardened.
inline constexpr HardeningTier kHardening = static_cast<HardeningTier>(OURO_HARDENING);

[[nodiscard]] constexpr std::string_view tier_name(HardeningTier tier) noexcept {
    switch (tier) {
        case HardeningTier::off:
            return "off";
        case HardeningTier::checked:
            return "checked";
        case HardeningTier::hardened:
            return "hardened";
    }
    return "?";
}

}  // namespace ouro
