#pragma once

#include <ouro/observe/pressure_options.hpp>

#include <cstdint>

namespace ouro::detail {

// Shares without overflow, for any number of bytes.
[[nodiscard]] constexpr std::uint64_t percent_of(std::uint64_t bytes, std::uint32_t percent) noexcept {
    return bytes / 100 * percent + bytes % 100 * percent / 100;
}

// The end of all time rather than a time before.
[[nodiscard]] constexpr std::uint64_t later(std::uint64_t now_ns, std::uint64_t by_ns) noexcept {
    return now_ns + by_ns < now_ns ? ~std::uint64_t{0} : now_ns + by_ns;
}

[[nodiscard]] constexpr PressureLevel next_level(PressureLevel level, unsigned steps = 1) noexcept {
    const unsigned sum = static_cast<unsigned>(level) + steps;
    constexpr auto kLast = static_cast<unsigned>(PressureLevel::critical);
    return static_cast<PressureLevel>(sum < kLast ? sum : kLast);
}

// Where a level begins. Requires: not none.
[[nodiscard]] std::uint32_t percent_for(const PressureThresholds& thresholds, PressureLevel level) noexcept;

// They rise from above the hysteresis to at most the whole.
[[nodiscard]] bool are_sound(const PressureThresholds& thresholds) noexcept;

// One limit, how much of it is used, and the level that follows from it and from the level before.
class LevelGauge {
public:
    void update(const MemoryUse& use, const PressureThresholds& thresholds) noexcept;
    void reset() noexcept { *this = {}; }

    [[nodiscard]] PressureLevel level() const noexcept { return level_; }
    [[nodiscard]] const MemoryUse& use() const noexcept { return use_; }
    // How much less must be used for the level to be left; zero at level none.
    [[nodiscard]] std::uint64_t excess_bytes() const noexcept { return excess_bytes_; }

private:
    MemoryUse use_;
    PressureLevel level_ = PressureLevel::none;
    std::uint64_t excess_bytes_ = 0;
};

// Leaves alone for a while what was of no use.
class Pause {
public:
    [[nodiscard]] bool holds(std::uint64_t now_ns, PressureLevel level) const noexcept {
        return now_ns < until_ns_ && level <= level_;
    }
    // It was of no use at this level.
    void begin(std::uint64_t now_ns, PressureLevel level, std::uint64_t first_ns,
               std::uint64_t longest_ns) noexcept;
    void reset() noexcept { *this = {}; }

    [[nodiscard]] std::uint64_t until_ns() const noexcept { return until_ns_; }

private:
    std::uint64_t until_ns_ = 0;
    std::uint64_t length_ns_ = 0;
    PressureLevel level_ = PressureLevel::none;
};

}  // namespace ouro::detail
