#pragma once

#include <ouro/base/bits.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ouro::detail {

inline constexpr std::size_t kRunUnitsPerWord = 64;

// Calls visit(word, mask) for each word that a run touches, until it answers false; how many units were
// visited before that.
template <class Visit>
std::size_t for_each_run_word(std::size_t first, std::size_t count, Visit visit) noexcept {
    std::size_t done = 0;
    while (done < count) {
        const std::size_t unit = first + done;
        const auto bit = static_cast<unsigned>(unit % kRunUnitsPerWord);
        const std::size_t here = std::min(count - done, kRunUnitsPerWord - bit);
        if (!visit(unit / kRunUnitsPerWord, low_mask<std::uint64_t>(static_cast<unsigned>(here)) << bit))
            break;
        done += here;
    }
    return done;
}

// Claims runs of units, lowest first, by one bit a unit in words that lie anywhere, in memory shared between
// processes as well. There is no lock: a thread that stops half-way stops nobody else.
class RunBits {
public:
    using Word = std::atomic<std::uint64_t>;
    static constexpr std::size_t kNoUnit = ~std::size_t{0};

    // The hint has in its lower half a word before which none has a free unit, except for moments; in the
    // upper half a version, which changes whenever units are given back. So whoever found that all before a
    // word is taken can tell whether that is still true. Zero is a good one to begin with.
    RunBits(Word* taken, Word& hint) noexcept : taken_(taken), hint_(hint) {}

    // The first unit of a run below `usable`, or kNoUnit.
    [[nodiscard]] std::size_t find_and_claim(std::size_t count, std::size_t usable) noexcept;
    [[nodiscard]] bool claim(std::size_t first, std::size_t count) noexcept;
    void unclaim(std::size_t first, std::size_t count) noexcept;

    // The first unit from `unit` on, before `end`, whose bit is as wanted.
    [[nodiscard]] std::size_t next(std::size_t unit, std::size_t end, bool taken) const noexcept;
    [[nodiscard]] std::uint32_t version() const noexcept {
        return static_cast<std::uint32_t>(hint_.load(std::memory_order_acquire) >> 32U);
    }

private:
    Word* taken_;
    Word& hint_;
};

}  // namespace ouro::detail
