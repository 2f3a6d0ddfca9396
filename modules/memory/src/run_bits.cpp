#include "run_bits.hpp"

namespace ouro::detail {
namespace {

constexpr unsigned kHalf = 32;
constexpr std::uint64_t kLowerHalf = low_mask<std::uint64_t>(kHalf);

bool set_if_clear(RunBits::Word& word, std::uint64_t mask) noexcept {
    std::uint64_t old = word.load(std::memory_order_relaxed);
    do {
        if ((old & mask) != 0) return false;
    } while (
        !word.compare_exchange_weak(old, old | mask, std::memory_order_acquire, std::memory_order_relaxed));
    return true;
}

}  // namespace

std::size_t RunBits::next(std::size_t unit, std::size_t end, bool taken) const noexcept {
    while (unit < end) {
        std::uint64_t word = taken_[unit / kRunUnitsPerWord].load(std::memory_order_relaxed);
        if (!taken) word = ~word;
        word >>= unit % kRunUnitsPerWord;
        if (word != 0) return std::min(end, unit + static_cast<std::size_t>(std::countr_zero(word)));
        unit = (unit / kRunUnitsPerWord + 1) * kRunUnitsPerWord;
    }
    return end;
}

std::size_t RunBits::find_and_claim(std::size_t count, std::size_t usable) noexcept {
    std::uint64_t seen = hint_.load(std::memory_order_acquire);
    const auto hint = static_cast<std::size_t>(seen & kLowerHalf);
    std::size_t unit = next(hint * kRunUnitsPerWord, usable, false);
    // Everything before is taken: remember that, unless somebody gave back anything meanwhile. It may lie
    // behind the old hint and before the new one, where it would never be found again.
    if (unit / kRunUnitsPerWord > hint) {
        const std::uint64_t moved = (seen & ~kLowerHalf) | (unit / kRunUnitsPerWord);
        hint_.compare_exchange_strong(seen, moved, std::memory_order_relaxed);
    }
    while (unit + count <= usable) {
        const std::size_t end = next(unit, unit + count, true);
        if (end == unit + count && claim(unit, count)) return unit;
        unit = next(std::max(end, unit + 1), usable, false);
    }
    return kNoUnit;
}

bool RunBits::claim(std::size_t first, std::size_t count) noexcept {
    const std::size_t claimed = for_each_run_word(
        first, count, [&](std::size_t word, std::uint64_t mask) { return set_if_clear(taken_[word], mask); });
    if (claimed == count) return true;
    if (claimed != 0) unclaim(first, claimed);
    return false;
}

void RunBits::unclaim(std::size_t first, std::size_t count) noexcept {
    for_each_run_word(first, count, [&](std::size_t word, std::uint64_t mask) {
        taken_[word].fetch_and(~mask, std::memory_order_release);
        return true;
    });
    std::uint64_t seen = hint_.load(std::memory_order_relaxed);
    std::uint64_t next = 0;
    do {
        const std::uint64_t word = std::min<std::uint64_t>(seen & kLowerHalf, first / kRunUnitsPerWord);
        next = (((seen >> kHalf) + 1) << kHalf) | word;
    } while (!hint_.compare_exchange_weak(seen, next, std::memory_order_release, std::memory_order_relaxed));
}

}  // namespace ouro::detail
