#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ouro::bench {

enum class Met : unsigned char { yes, no, unknown };
enum class Sense : unsigned char { at_most, at_least };

// What of a row: ours / peer, ours, or ours - peer.
enum class Figure : unsigned char { ratio, value, difference };

// A promise about a row: a figure of it lies on the right side of a limit.
struct Bar {
    double limit = 0;
    Sense sense = Sense::at_most;
    Figure figure = Figure::ratio;

    [[nodiscard]] bool holds(double value) const noexcept {
        return sense == Sense::at_most ? value <= limit : value >= limit;
    }
};

[[nodiscard]] constexpr Bar ratio_at_most(double limit) noexcept {
    return {limit, Sense::at_most, Figure::ratio};
}
[[nodiscard]] constexpr Bar ratio_at_least(double limit) noexcept {
    return {limit, Sense::at_least, Figure::ratio};
}
[[nodiscard]] constexpr Bar value_at_most(double limit) noexcept {
    return {limit, Sense::at_most, Figure::value};
}
[[nodiscard]] constexpr Bar value_at_least(double limit) noexcept {
    return {limit, Sense::at_least, Figure::value};
}

[[nodiscard]] constexpr Bar difference_at_most(double limit) noexcept {
    return {limit, Sense::at_most, Figure::difference};
}

// What is known of a row before anything is measured.
struct RowLabel {
    std::string suite;
    std::string name;
    std::string unit;
};

// One line of the results: ours beside one peer. Values that could not be measured are empty, never zero.
struct Row {
    RowLabel label;
    std::optional<double> ours;
    std::string peer;
    std::string peer_version;
    std::optional<double> peer_value;
    // What no implementation can beat on this machine, measured in the same rounds.
    std::string bound_name;
    std::optional<double> bound;
    std::optional<Bar> bar;
    // E.g. "min of 11".
    std::string statistic;
    std::string note;
    std::optional<std::uint64_t> memory_bytes;
    std::optional<std::uint64_t> peer_memory_bytes;
    // False in a quick session: the figures mean nothing, so no bar is met or missed.
    bool judged = true;

    // ours / peer, whatever the unit; empty when either is missing or the peer's is zero.
    [[nodiscard]] std::optional<double> ratio() const noexcept;
    // What a bar is about; empty where it could not be measured.
    [[nodiscard]] std::optional<double> figure(Figure which) const noexcept;
    // unknown without a bar, without what the bar is about, and where nothing is judged.
    [[nodiscard]] Met met() const noexcept;
};

// "true", "false" or "unknown".
[[nodiscard]] std::string_view met_text(Met met) noexcept;

}  // namespace ouro::bench
