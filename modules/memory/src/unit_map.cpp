#include <ouro/base/bits.hpp>
#include <ouro/memory/detail/unit_map.hpp>
#include <ouro/memory/seal.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>

namespace ouro::detail {
namespace {

// What is made usable at once: an eighth of what there is, within these.
constexpr std::size_t kLeastGrowth = 16;
constexpr std::size_t kMostGrowth = 1024;

// Calls visit(word, mask) for each word that a run touches, until it answers false; how many units were
// visited before that.
template <class Visit>
std::size_t for_each_mask(std::size_t first, std::size_t count, Visit visit) noexcept {
    std::size_t done = 0;
    while (done < count) {
        const std::size_t unit = first + done;
        const auto bit = static_cast<unsigned>(unit % UnitMap::kUnitsPerWord);
        const std::size_t here = std::min(count - done, UnitMap::kUnitsPerWord - bit);
        if (!visit(unit / UnitMap::kUnitsPerWord, low_mask<std::uint64_t>(static_cast<unsigned>(here))
                                                      << bit))
            break;
        done += here;
    }
    return done;
}

// The first unit from `unit` on, before `end`, whose bit is as wanted.
std::size_t next_unit(const UnitMap::Word* words, std::size_t unit, std::size_t end, bool taken) noexcept {
    while (unit < end) {
        std::uint64_t word = words[unit / UnitMap::kUnitsPerWord].load(std::memory_order_relaxed);
        if (!taken) word = ~word;
        word >>= unit % UnitMap::kUnitsPerWord;
        if (word != 0) return std::min(end, unit + static_cast<std::size_t>(std::countr_zero(word)));
        unit = (unit / UnitMap::kUnitsPerWord + 1) * UnitMap::kUnitsPerWord;
    }
    return end;
}

bool set_if_clear(UnitMap::Word& word, std::uint64_t mask) noexcept {
    std::uint64_t old = word.load(std::memory_order_relaxed);
    do {
        if ((old & mask) != 0) return false;
    } while (
        !word.compare_exchange_weak(old, old | mask, std::memory_order_acquire, std::memory_order_relaxed));
    return true;
}

}  // namespace

UnitMap::UnitMap(const Memory& memory, Grow grow_units, void* context) noexcept
    : units_(memory.units),
      taken_(memory.taken),
      dirty_(memory.dirty),
      grow_(grow_units),
      grow_context_(context),
      usable_(memory.usable_units) {}

Expected<UnitMap::Run> UnitMap::take(std::size_t count) noexcept {
    if (count == 0) return Status::zero_size;
    if (count > unit_count()) return Status::capacity_exhausted;
    for (;;) {
        const std::size_t usable = usable_units();
        const std::size_t first = find_and_claim(count, usable);
        if (first != kNoUnit) return Run{first, count, clear_dirty(first, count) == 0 && grow_ != nullptr};
        const auto grown = grow(count, usable);
        if (!grown) return grown.status();
    }
}

bool UnitMap::take_at(std::size_t first, std::size_t count) noexcept {
    if (count > usable_units() || first > usable_units() - count || !claim(first, count)) return false;
    clear_dirty(first, count);
    return true;
}

void UnitMap::give_back(std::size_t first, std::size_t count) noexcept {
    for_each_mask(first, count, [&](std::size_t word, std::uint64_t mask) {
        dirty_[word].fetch_or(mask, std::memory_order_relaxed);
        return true;
    });
    free_dirty_.fetch_add(count, std::memory_order_relaxed);
    unclaim(first, count);
}

std::size_t UnitMap::find_and_claim(std::size_t count, std::size_t usable) noexcept {
    const std::size_t hint = first_free_word_.load(std::memory_order_relaxed);
    std::size_t unit = next_unit(taken_, hint * kUnitsPerWord, usable, false);
    // Everything before is taken: remember that, unless somebody gave back a lower one meanwhile.
    std::size_t expected = hint;
    if (unit / kUnitsPerWord > hint)
        first_free_word_.compare_exchange_strong(expected, unit / kUnitsPerWord, std::memory_order_relaxed);
    while (unit + count <= usable) {
        const std::size_t end = next_unit(taken_, unit, unit + count, true);
        if (end == unit + count && claim(unit, count)) return unit;
        unit = next_unit(taken_, std::max(end, unit + 1), usable, false);
    }
    return kNoUnit;
}

bool UnitMap::claim(std::size_t first, std::size_t count) noexcept {
    const std::size_t claimed = for_each_mask(
        first, count, [&](std::size_t word, std::uint64_t mask) { return set_if_clear(taken_[word], mask); });
    if (claimed == count) return true;
    if (claimed != 0) unclaim(first, claimed);
    return false;
}

void UnitMap::unclaim(std::size_t first, std::size_t count) noexcept {
    for_each_mask(first, count, [&](std::size_t word, std::uint64_t mask) {
        taken_[word].fetch_and(~mask, std::memory_order_release);
        return true;
    });
    std::size_t hint = first_free_word_.load(std::memory_order_relaxed);
    while (first / kUnitsPerWord < hint &&
           !first_free_word_.compare_exchange_weak(hint, first / kUnitsPerWord, std::memory_order_relaxed)) {
    }
}

std::size_t UnitMap::clear_dirty(std::size_t first, std::size_t count) noexcept {
    std::size_t cleared = 0;
    for_each_mask(first, count, [&](std::size_t word, std::uint64_t mask) {
        if ((dirty_[word].load(std::memory_order_relaxed) & mask) == 0) return true;
        const std::uint64_t old = dirty_[word].fetch_and(~mask, std::memory_order_relaxed);
        cleared += static_cast<std::size_t>(std::popcount(old & mask));
        return true;
    });
    if (cleared != 0) free_dirty_.fetch_sub(cleared, std::memory_order_relaxed);
    return cleared;
}

Expected<void> UnitMap::grow(std::size_t count, std::size_t usable) noexcept {
    const std::size_t room = unit_count() - usable;
    if (grow_ == nullptr || room == 0) return Status::capacity_exhausted;
    const Status unsealed = check_unsealed();
    if (unsealed != Status::ok) return unsealed;
    const std::size_t more = std::max(count, std::clamp(usable / 8, kLeastGrowth, kMostGrowth));
    const std::size_t end = usable + std::min(more, room);
    const auto grown = grow_(grow_context_, usable, end);
    if (!grown) return grown;
    std::size_t expected = usable;
    while (expected < end && !usable_.compare_exchange_weak(expected, end, std::memory_order_acq_rel)) {
    }
    return {};
}

std::size_t UnitMap::purge() noexcept {
    if (grow_ == nullptr || is_sealed()) return 0;
    const std::size_t usable = usable_units();
    std::size_t purged = 0;
    for (std::size_t word = 0; word * kUnitsPerWord < usable && free_dirty_units() != 0; ++word)
        purged += purge_word(word);
    return purged * kUnitBytes;
}

std::size_t UnitMap::purge_word(std::size_t word) noexcept {
    std::size_t purged = 0;
    std::uint64_t wanted = dirty_[word].load(std::memory_order_relaxed);
    while ((wanted &= ~taken_[word].load(std::memory_order_relaxed)) != 0) {
        const auto bit = static_cast<unsigned>(std::countr_zero(wanted));
        const auto count = static_cast<unsigned>(std::countr_one(wanted >> bit));
        wanted &= ~(low_mask<std::uint64_t>(count) << bit);
        const std::size_t first = word * kUnitsPerWord + bit;
        if (!claim(first, count)) continue;
        // When the system refuses, the memory simply stays, and stays marked.
        if (os::discard({address_of(first), count * kUnitBytes})) purged += clear_dirty(first, count);
        unclaim(first, count);
    }
    return purged;
}

bool UnitMap::is_taken(std::size_t unit) const noexcept {
    const std::uint64_t word = taken_[unit / kUnitsPerWord].load(std::memory_order_relaxed);
    return ((word >> (unit % kUnitsPerWord)) & 1U) != 0;
}

}  // namespace ouro::detail
