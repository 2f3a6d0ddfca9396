#pragma once

#include <cstdint>
#include <utility>

namespace ouro::testing_support {

// Move-only, over-aligned, and counts how many live: constructions and destructions must balance. A value
// that was moved from is recognised.
struct alignas(64) Tracked {
    explicit Tracked(std::uint32_t number) noexcept : value(number) { ++live; }
    Tracked() noexcept : Tracked(0) {}
    Tracked(Tracked&& other) noexcept : value(std::exchange(other.value, kMovedFrom)) { ++live; }
    Tracked& operator=(Tracked&& other) noexcept {
        value = std::exchange(other.value, kMovedFrom);
        return *this;
    }
    ~Tracked() { --live; }

    friend bool operator==(const Tracked& one, const Tracked& other) noexcept {
        return one.value == other.value;
    }

    static constexpr std::uint32_t kMovedFrom = 0xFFFFFFFF;
    static inline std::int64_t live = 0;

    std::uint32_t value;
};

}  // namespace ouro::testing_support
