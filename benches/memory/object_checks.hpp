#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ouro::bench {

// What a user writes into a new object: a byte that follows from its place, so that it can be checked later
// without a list of what was written.
inline void stamp(void* object) noexcept {
    const auto place = reinterpret_cast<std::uintptr_t>(object);
    *static_cast<volatile unsigned char*>(object) = static_cast<unsigned char>(place >> 4);
}

[[nodiscard]] inline bool has_stamp(const void* object) noexcept {
    const auto place = reinterpret_cast<std::uintptr_t>(object);
    return *static_cast<const volatile unsigned char*>(object) == static_cast<unsigned char>(place >> 4);
}

// How many of the objects are what the allocator promised: distinct, not overlapping and as they were left.
[[nodiscard]] inline std::uint64_t count_sound(std::vector<void*> objects, std::size_t size) {
    std::sort(objects.begin(), objects.end());
    std::uint64_t sound = 0;
    for (std::size_t i = 0; i < objects.size(); ++i) {
        const auto* begin = static_cast<const std::byte*>(objects[i]);
        const bool apart = i + 1 == objects.size() || begin + size <= objects[i + 1];
        sound += apart && has_stamp(begin) ? 1U : 0U;
    }
    return sound;
}

// Cheap numbers for the choice of objects: the same sequence for every candidate.
class Lottery {
public:
    explicit Lottery(std::uint64_t seed) noexcept : state_(seed) {}

    // Uniform enough in [0, bound).
    [[nodiscard]] std::size_t below(std::size_t bound) noexcept {
        state_ = state_ * 0x5851f42d4c957f2dU + 0x14057b7ef767814fU;
        return static_cast<std::size_t>(((state_ >> 32) * bound) >> 32);
    }

    // As many sizes of each power of two between the limits, as programs tend to have. Requires: powers of
    // two.
    [[nodiscard]] std::size_t size_between(std::size_t least, std::size_t most) noexcept {
        std::size_t base = least;
        std::size_t doublings = 0;
        while (base < most) {
            base *= 2;
            ++doublings;
        }
        base = least << below(doublings);
        return base + below(base + 1);
    }

private:
    std::uint64_t state_;
};

}  // namespace ouro::bench
