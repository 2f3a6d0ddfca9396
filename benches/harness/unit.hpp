#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ouro::bench {

// How the time of one operation is shown.
struct Unit {
    std::string_view name;
    double ns_per_unit = 1;
    // Not zero: the operation moves so many bytes, and the value is a rate, where more is better.
    double bytes_per_operation = 0;

    [[nodiscard]] constexpr double value_of(double ns) const noexcept {
        return bytes_per_operation != 0 ? bytes_per_operation / ns : ns / ns_per_unit;
    }
};

inline constexpr Unit kNanoseconds{"ns", 1};
inline constexpr Unit kMicroseconds{"us", 1e3};
inline constexpr Unit kMilliseconds{"ms", 1e6};
// For figures that are no times, see Round::add_figure.
inline constexpr Unit kMebibytes{"MiB", 1024.0 * 1024.0};
inline constexpr Unit kTimes{"x", 1};

[[nodiscard]] constexpr Unit gigabytes_per_second(double bytes_per_operation) noexcept {
    return {"GB/s", 1, bytes_per_operation};
}

// A size for the name of a case, which must be true in a quick session too: "4 KiB", "100 MiB". Requires: a
// multiple of 1 KiB.
[[nodiscard]] inline std::string size_name(std::uint64_t bytes) {
    std::uint64_t size = bytes / 1024;
    const char* unit = " KiB";
    for (const char* larger : {" MiB", " GiB"}) {
        if (size % 1024 != 0) break;
        size /= 1024;
        unit = larger;
    }
    return std::to_string(size) + unit;
}

}  // namespace ouro::bench
