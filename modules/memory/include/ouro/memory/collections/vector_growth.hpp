#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ouro {

// Which capacities a full vector asks for. Twice what it has; where that is refused there may still be room
// for less. Not for what is needed at once, as the next elements would have to grow again and again; and not
// for all between the two each time, as every attempt may be counted, or answered, by whoever looks after the
// memory. So what was refused last is remembered: half of what is left below it, half of that, and then just
// what is needed.
template <class T>
class VectorGrowth {
public:
    static constexpr std::size_t kMaxSize = static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(T);

    // Calls attempt(capacity) until it says true, at most three times, the last time with what is needed.
    // Requires: capacity < needed <= kMaxSize.
    template <class Attempt>
    void try_capacities(std::size_t needed, std::size_t capacity, Attempt attempt) noexcept {
        // It was enough after all, or nothing was.
        if (refused_ <= needed) refused_ = kNoneRefused;
        const std::size_t generous = generous_capacity(needed, capacity);
        std::size_t wanted = generous < refused_ ? generous : halfway(needed);
        for (int refusals = 0; !attempt(wanted); ++refusals) {
            refused_ = wanted;
            if (wanted == needed) return;
            wanted = refusals == 0 ? halfway(needed) : needed;
        }
    }

private:
    static constexpr std::size_t kNoneRefused = kMaxSize + 1;
    // A first block smaller than a cache line would only be outgrown at once.
    static constexpr std::size_t kFirstCapacity = sizeof(T) < 64 ? 64 / sizeof(T) : 1;
    // Less than this is not worth an attempt.
    static constexpr std::size_t kLeastMore = 256 / sizeof(T);

    [[nodiscard]] static std::size_t generous_capacity(std::size_t needed, std::size_t capacity) noexcept {
        const std::size_t doubled = capacity <= kMaxSize / 2 ? 2 * capacity : kMaxSize;
        return std::max({needed, doubled, kFirstCapacity});
    }
    [[nodiscard]] std::size_t halfway(std::size_t needed) const noexcept {
        const std::size_t more = (refused_ - needed) / 2;
        return more <= kLeastMore ? needed : needed + more;
    }

    // A capacity that was more than could be had.
    std::size_t refused_ = kNoneRefused;
};

}  // namespace ouro
