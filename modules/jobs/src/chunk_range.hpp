#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ouro::detail {

inline constexpr std::size_t kCacheLine = 64;

struct Chunks {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;

    [[nodiscard]] bool is_empty() const noexcept { return begin >= end; }
    [[nodiscard]] std::uint32_t size() const noexcept { return end - begin; }
};

// What is left of one participant's share of a loop, as one word: its participant takes from the front,
// others take from the back. A word that holds the same numbers again means the same chunks, so that nobody
// needs to know what happened in between. Only numbers are passed on here; what they mean is passed on by
// joining the loop.
class alignas(kCacheLine) ChunkRange {
public:
    // By its participant, when it is empty; or before the loop begins.
    void set(Chunks chunks) noexcept { word_.store(pack(chunks), std::memory_order_relaxed); }
    [[nodiscard]] Chunks peek() const noexcept { return unpack(word_.load(std::memory_order_relaxed)); }

    // The next chunks: a part of what is left that is small enough for the others to have something to take,
    // and large enough to make few steps of many small chunks. Or all of it.
    [[nodiscard]] Chunks take_front(bool takes_all) noexcept {
        return take([takes_all](Chunks left) noexcept {
            const std::uint32_t wanted =
                takes_all ? left.size() : std::max(left.size() / kPartDivisor, std::uint32_t{1});
            const std::uint32_t middle = left.begin + wanted;
            return Cut{{left.begin, middle}, {middle, left.end}};
        });
    }
    // The larger half, or all of it.
    [[nodiscard]] Chunks take_back(bool takes_all) noexcept {
        return take([takes_all](Chunks left) noexcept {
            const std::uint32_t middle = takes_all ? left.begin : left.begin + left.size() / 2;
            return Cut{{middle, left.end}, {left.begin, middle}};
        });
    }

private:
    static constexpr std::uint32_t kPartDivisor = 16;

    struct Cut {
        Chunks taken;
        Chunks left;
    };

    [[nodiscard]] static std::uint64_t pack(Chunks chunks) noexcept {
        return std::uint64_t{chunks.end} << 32 | chunks.begin;
    }
    [[nodiscard]] static Chunks unpack(std::uint64_t word) noexcept {
        return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
    }

    template <class Choose>
    [[nodiscard]] Chunks take(Choose choose) noexcept {
        std::uint64_t word = word_.load(std::memory_order_relaxed);
        for (;;) {
            const Chunks left = unpack(word);
            if (left.is_empty()) return {};
            const Cut cut = choose(left);
            if (word_.compare_exchange_weak(word, pack(cut.left), std::memory_order_relaxed))
                return cut.taken;
        }
    }

    std::atomic<std::uint64_t> word_{0};
};

}  // namespace ouro::detail
