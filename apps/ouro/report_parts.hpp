#pragma once

#include "report_model.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// What the parts of a report have in common.
namespace ouro {

// As another process may have left it: a count below nothing is none.
[[nodiscard]] inline std::uint64_t at_least_zero(std::uint64_t count) {
    return static_cast<std::int64_t>(count) < 0 ? 0 : count;
}

template <class Number>
[[nodiscard]] std::uint64_t load(const std::atomic<Number>& value) {
    return static_cast<std::uint64_t>(value.load(std::memory_order_relaxed));
}

// Without what a terminal would obey and what is not UTF-8.
[[nodiscard]] std::string printable(std::string_view text);

// The text up to a zero or the end.
template <std::size_t kBytes>
[[nodiscard]] std::string printable(const std::array<char, kBytes>& text) {
    const auto end = std::find(text.begin(), text.end(), '\0');
    return printable(std::string_view(text.data(), static_cast<std::size_t>(end - text.begin())));
}

[[nodiscard]] inline double seconds_between(std::uint64_t earlier_ns, std::uint64_t later_ns) {
    constexpr double kNanoseconds = 1e9;
    return later_ns > earlier_ns ? static_cast<double>(later_ns - earlier_ns) / kNanoseconds : 0;
}

// The name of a level of pressure; "unknown" for what is none.
[[nodiscard]] std::string level_text(std::uint64_t level);

// The name of a tag by its number; "untagged" for what is none.
[[nodiscard]] std::string name_of_tag(const Report& report, std::uint64_t id);

[[nodiscard]] std::vector<TagReport> read_tags(const detail::Ledger& ledger);
void read_events(const detail::EventRing& ring, Report& report);
void read_profile(const detail::Profile& profile, Report& report);
void read_timeline(const detail::TimelineRing& ring, Report& report);
void read_pressure(const detail::PressureImage& image, Report& report);

}  // namespace ouro
