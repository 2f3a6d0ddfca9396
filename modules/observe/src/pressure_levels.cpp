#include <ouro/observe/detail/pressure_levels.hpp>

#include <algorithm>

namespace ouro {

std::string_view pressure_level_name(PressureLevel level) noexcept {
    switch (level) {
        case PressureLevel::none:
            return "none";
        case PressureLevel::low:
            return "low";
        case PressureLevel::medium:
            return "medium";
        case PressureLevel::high:
            return "high";
        case PressureLevel::critical:
            return "critical";
    }
    return "unknown";
}

std::string_view pressure_source_name(PressureSource source) noexcept {
    switch (source) {
        case PressureSource::none:
            return "none";
        case PressureSource::budget:
            return "budget";
        case PressureSource::group:
            return "group";
        case PressureSource::system:
            return "system";
        case PressureSource::stalls:
            return "stalls";
    }
    return "unknown";
}

namespace detail {
namespace {

constexpr PressureLevel kFallingLevels[] = {PressureLevel::critical, PressureLevel::high,
                                            PressureLevel::medium, PressureLevel::low};

// At least one byte: where nothing is used there is no pressure, however small the limit.
std::uint64_t bytes_for(std::uint64_t limit, std::uint32_t percent) noexcept {
    return std::max<std::uint64_t>(percent_of(limit, percent), 1);
}

}  // namespace

std::uint32_t percent_for(const PressureThresholds& thresholds, PressureLevel level) noexcept {
    switch (level) {
        case PressureLevel::none:
            return 0;
        case PressureLevel::low:
            return thresholds.low_percent;
        case PressureLevel::medium:
            return thresholds.medium_percent;
        case PressureLevel::high:
            return thresholds.high_percent;
        case PressureLevel::critical:
            return thresholds.critical_percent;
    }
    return 0;
}

bool are_sound(const PressureThresholds& thresholds) noexcept {
    return thresholds.hysteresis_percent < thresholds.low_percent &&
           thresholds.low_percent <= thresholds.medium_percent &&
           thresholds.medium_percent <= thresholds.high_percent &&
           thresholds.high_percent <= thresholds.critical_percent && thresholds.critical_percent <= 100;
}

void LevelGauge::update(const MemoryUse& use, const PressureThresholds& thresholds) noexcept {
    const PressureLevel before = level_;
    use_ = use;
    level_ = PressureLevel::none;
    excess_bytes_ = 0;
    if (use.limit_bytes == os::kNoLimit) return;
    for (const PressureLevel level : kFallingLevels) {
        const std::uint32_t percent = percent_for(thresholds, level);
        const std::uint64_t leaves_at = bytes_for(use.limit_bytes, percent - thresholds.hysteresis_percent);
        const std::uint64_t holds_from = level <= before ? leaves_at : bytes_for(use.limit_bytes, percent);
        if (use.used_bytes < holds_from) continue;
        level_ = level;
        excess_bytes_ = use.used_bytes - leaves_at + 1;
        return;
    }
}

void Pause::begin(std::uint64_t now_ns, PressureLevel level, std::uint64_t first_ns,
                  std::uint64_t longest_ns) noexcept {
    // A higher level may have cut the last one short: that is no reason for a longer one.
    const bool is_over = now_ns >= until_ns_;
    if (length_ns_ == 0) {
        length_ns_ = first_ns;
    } else if (is_over) {
        length_ns_ = length_ns_ < longest_ns / 2 ? 2 * length_ns_ : longest_ns;
    }
    until_ns_ = later(now_ns, length_ns_);
    level_ = is_over ? level : std::max(level, level_);
}

}  // namespace detail
}  // namespace ouro
