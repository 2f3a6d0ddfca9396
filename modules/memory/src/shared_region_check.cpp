#include "run_bits.hpp"

#include <ouro/memory/shared_region.hpp>

#include <bit>

namespace ouro {

using detail::shared::cache_limit;
using detail::shared::kClasses;
using detail::shared::kFirstClass;
using detail::shared::kind_of;
using detail::shared::kind_word;
using detail::shared::kNoUnit;
using detail::shared::kStateHeld;
using detail::shared::kStateListed;
using detail::shared::kStateNone;
using detail::shared::kStateUnlisted;
using detail::shared::kUnitBytes;
using detail::shared::number_of;
using detail::shared::slab_blocks;
using detail::shared::slab_units;
using detail::shared::UnitKind;

// What a walk over all units finds.
struct SharedRegion::Census {
    std::array<std::uint32_t, kClasses> listed{};
    std::uint32_t taken = 0;
};

namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr std::uint64_t kLowerHalf = low_mask<std::uint64_t>(32);

bool is_empty(const detail::shared::Unit& unit) noexcept {
    for (const auto& word : unit.free)
        if (word.load(kRelaxed) != 0) return false;
    return unit.kind.load(kRelaxed) == 0 && unit.state.load(kRelaxed) == kStateNone;
}

// The bits that a word of a slab can have.
std::uint64_t mask_of(unsigned size_class, std::uint32_t word) noexcept {
    const std::uint32_t blocks = slab_blocks(size_class);
    if (word * 64 >= blocks) return 0;
    const std::uint32_t here = blocks - word * 64;
    return low_mask<std::uint64_t>(here < 64 ? here : 64);
}

}  // namespace

Status SharedRegion::check() const noexcept {
    Census census;
    const bool is_sound = count_units(census) && are_lists_sound(census) && are_caches_sound();
    return is_sound ? Status::ok : Status::corrupt_data;
}

// How many units the slab or large block has that begins there, or zero when there is none that can be.
std::uint32_t SharedRegion::units_of_block(std::uint32_t unit) const noexcept {
    const std::uint32_t kind = units_[unit].kind.load(kRelaxed);
    const std::uint32_t number = number_of(kind);
    std::uint32_t count = 0;
    if (kind_of(kind) == UnitKind::large) count = number;
    if (kind_of(kind) == UnitKind::slab && number >= kFirstClass && number < kClasses)
        count = slab_units(number);
    return count <= unit_count_ - unit ? count : 0;
}

bool SharedRegion::is_taken(std::uint32_t first, std::uint32_t count) const noexcept {
    return detail::RunBits(taken_, header_->hint).next(first, first + count, false) == first + count;
}

bool SharedRegion::is_sound_slab(std::uint32_t slab) const noexcept {
    const unsigned size_class = number_of(units_[slab].kind.load(kRelaxed));
    for (std::uint32_t part = 0; part < slab_units(size_class); ++part) {
        const Unit& unit = units_[slab + part];
        const bool is_part = part == 0 || (unit.kind.load(kRelaxed) == kind_word(UnitKind::slab_part, part) &&
                                           unit.state.load(kRelaxed) == kStateNone);
        if (!is_part) return false;
        for (std::uint32_t word = 0; word < Unit::kWords; ++word)
            if ((unit.free[word].load(kRelaxed) & ~mask_of(size_class, part * Unit::kWords + word)) != 0)
                return false;
    }
    const std::uint32_t state = units_[slab].state.load(kRelaxed);
    if (state == kStateListed) return true;
    if (state == kStateUnlisted) return !has_free_block(slab);
    return state >= kStateHeld && state - kStateHeld < cache_count() && owner_of(state - kStateHeld) != 0;
}

bool SharedRegion::count_units(Census& census) const noexcept {
    for (std::uint32_t unit = 0; unit < unit_count_;) {
        const std::uint32_t count = units_of_block(unit);
        if (count == 0) {
            if (!is_empty(units_[unit]) || is_taken(unit, 1)) return false;
            ++unit;
            continue;
        }
        if (!is_taken(unit, count)) return false;
        const std::uint32_t kind = units_[unit].kind.load(kRelaxed);
        if (kind_of(kind) == UnitKind::slab) {
            if (!is_sound_slab(unit)) return false;
            if (units_[unit].state.load(kRelaxed) == kStateListed) ++census.listed[number_of(kind)];
        } else {
            if (units_[unit].state.load(kRelaxed) != kStateNone) return false;
            for (std::uint32_t part = 1; part < count; ++part)
                if (!is_empty(units_[unit + part])) return false;
        }
        census.taken += count;
        unit += count;
    }
    if (header_->taken_units.load(kRelaxed) != census.taken) return false;
    if (header_->peak_units.load(kRelaxed) < census.taken) return false;
    // What lies before the hint is never looked at, and there are no units behind the last.
    const auto hint = static_cast<std::size_t>(header_->hint.load(kRelaxed) & kLowerHalf);
    const std::size_t before = hint * detail::kRunUnitsPerWord;
    if (before != 0 && (before >= unit_count_ + detail::kRunUnitsPerWord ||
                        !is_taken(0, std::min(unit_count_, static_cast<std::uint32_t>(before)))))
        return false;
    const std::uint32_t in_last = unit_count_ % 64;
    return in_last == 0 || (taken_[unit_count_ / 64].load(kRelaxed) & ~low_mask<std::uint64_t>(in_last)) == 0;
}

bool SharedRegion::are_lists_sound(const Census& census) const noexcept {
    for (unsigned size_class = 0; size_class < kClasses; ++size_class)
        if (!is_list_sound(size_class, census.listed[size_class])) return false;
    return true;
}

// A list that has as many slabs as say that they are on it, and ends, has each of them once.
bool SharedRegion::is_list_sound(unsigned size_class, std::uint32_t length) const noexcept {
    auto next = static_cast<std::uint32_t>(header_->lists[size_class].head.load(kRelaxed) & kLowerHalf);
    for (; next != 0; --length) {
        if (length == 0 || next > unit_count_) return false;
        const Unit& slab = units_[next - 1];
        const bool belongs_here = slab.kind.load(kRelaxed) == kind_word(UnitKind::slab, size_class) &&
                                  slab.state.load(kRelaxed) == kStateListed;
        if (!belongs_here) return false;
        next = slab.next.load(kRelaxed);
    }
    return length == 0;
}

bool SharedRegion::are_caches_sound() const noexcept {
    for (std::uint32_t index = 0; index < cache_count(); ++index) {
        for (unsigned size_class = 0; size_class < kClasses; ++size_class) {
            const std::uint32_t count = cache(index).counts[size_class].load(kRelaxed);
            const bool can_have = size_class >= kFirstClass && owner_of(index) != 0;
            if (count > (can_have ? cache_limit(size_class) : 0)) return false;
            for (std::uint32_t entry = 0; entry < count; ++entry)
                if (!is_cached_once(index, size_class, entry)) return false;
        }
    }
    return true;
}

// A block of that class which is not free in its slab as well, nor in a cache or an entry further on.
bool SharedRegion::is_cached_once(std::uint32_t in_cache, unsigned size_class,
                                  std::uint32_t entry) const noexcept {
    const std::uint32_t offset = cache(in_cache).blocks[size_class][entry].load(kRelaxed);
    const Place place = place_of(offset, size_class);
    if (place.slab == kNoUnit) return false;
    if ((free_word(place.slab, place.index / 64).load(kRelaxed) >> (place.index % 64) & 1U) != 0)
        return false;
    for (std::uint32_t index = in_cache; index < cache_count(); ++index) {
        const std::uint32_t count = cache(index).counts[size_class].load(kRelaxed);
        const std::uint32_t first = index == in_cache ? entry + 1 : 0;
        for (std::uint32_t other = first; other < count && other < detail::shared::kCacheBlocks; ++other)
            if (cache(index).blocks[size_class][other].load(kRelaxed) == offset) return false;
    }
    return true;
}

void SharedRegion::repair_slab(std::uint32_t slab) const noexcept {
    const unsigned size_class = number_of(units_[slab].kind.load(kRelaxed));
    for (std::uint32_t part = 0; part < slab_units(size_class); ++part) {
        Unit& unit = units_[slab + part];
        if (part != 0) unit.kind.store(kind_word(UnitKind::slab_part, part), kRelaxed);
        if (part != 0) unit.state.store(kStateNone, kRelaxed);
        for (std::uint32_t word = 0; word < Unit::kWords; ++word)
            unit.free[word].fetch_and(mask_of(size_class, part * Unit::kWords + word), kRelaxed);
    }
    put_down_slab(slab);
}

std::size_t SharedRegion::repair() const noexcept {
    for (detail::shared::SlabList& list : header_->lists)
        list.head.store((list.head.load(kRelaxed) & ~kLowerHalf) + kLowerHalf + 1, kRelaxed);
    header_->hint.fetch_and(~kLowerHalf, kRelaxed);
    detail::RunBits bits(taken_, header_->hint);
    std::uint32_t lost = 0;
    std::uint32_t taken = 0;
    for (std::uint32_t unit = 0; unit < unit_count_;) {
        const std::uint32_t count = units_of_block(unit);
        taken += count;
        if (count != 0) {
            for (std::uint32_t part = 0; part < count; ++part)
                static_cast<void>(bits.claim(unit + part, 1));
            if (kind_of(units_[unit].kind.load(kRelaxed)) == UnitKind::slab) repair_slab(unit);
            unit += count;
            continue;
        }
        units_[unit].kind.store(kind_word(UnitKind::none, 0), kRelaxed);
        units_[unit].state.store(kStateNone, kRelaxed);
        for (auto& word : units_[unit].free)
            word.store(0, kRelaxed);
        if (is_taken(unit, 1)) {
            bits.unclaim(unit, 1);
            ++lost;
        }
        ++unit;
    }
    header_->taken_units.store(taken, kRelaxed);
    return std::size_t{lost} * kUnitBytes;
}

}  // namespace ouro
