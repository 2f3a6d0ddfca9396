// Units and slabs of a shared region, and the lists that slabs with free blocks are found by. All of it is
// done by atomic operations on words of the region, in such an order that whoever dies half-way leaves
// memory that is taken for nothing at worst, and never memory that is taken twice.
#include "run_bits.hpp"

#include <ouro/memory/shared_region.hpp>

#include <bit>

namespace ouro {

using detail::kClassBytes;
using detail::shared::kind_of;
using detail::shared::kind_word;
using detail::shared::kNoUnit;
using detail::shared::kStateHeld;
using detail::shared::kStateListed;
using detail::shared::kStateNone;
using detail::shared::kStateUnlisted;
using detail::shared::number_of;
using detail::shared::slab_blocks;
using detail::shared::slab_units;
using detail::shared::UnitKind;

namespace {

constexpr unsigned kSearches = 4;
constexpr std::uint64_t kFirstHalf = low_mask<std::uint64_t>(32);

// The head of a list that begins with another slab, plus one, or with none.
std::uint64_t next_head(std::uint64_t head, std::uint32_t slab_plus_one) noexcept {
    return (((head >> 32U) + 1) << 32U) | slab_plus_one;
}

std::uint32_t words_of(unsigned size_class) noexcept {
    return units_of(slab_blocks(size_class), 64U);
}

}  // namespace

std::uint32_t SharedRegion::take_units(std::uint32_t count) const noexcept {
    detail::RunBits bits(taken_, header_->hint);
    std::size_t first = detail::RunBits::kNoUnit;
    for (unsigned search = 0; search < kSearches && first == detail::RunBits::kNoUnit; ++search) {
        const std::uint32_t version = bits.version();
        first = bits.find_and_claim(count, unit_count_);
        // Units that others give back, or claim for a moment and cannot use, come back with a new version.
        if (first != detail::RunBits::kNoUnit || version != bits.version()) continue;
        // Somebody may have died between giving back units and telling so.
        if ((header_->hint.fetch_and(~kFirstHalf, std::memory_order_acq_rel) & kFirstHalf) == 0) break;
    }
    if (first == detail::RunBits::kNoUnit) return kNoUnit;
    const std::uint64_t taken = header_->taken_units.fetch_add(count, std::memory_order_relaxed) + count;
    std::uint64_t peak = header_->peak_units.load(std::memory_order_relaxed);
    while (peak < taken &&
           !header_->peak_units.compare_exchange_weak(peak, taken, std::memory_order_relaxed)) {
    }
    return static_cast<std::uint32_t>(first);
}

void SharedRegion::give_units(std::uint32_t first, std::uint32_t count) const noexcept {
    header_->taken_units.fetch_sub(count, std::memory_order_relaxed);
    detail::RunBits(taken_, header_->hint).unclaim(first, count);
}

SharedRegion::Place SharedRegion::place_of(std::uint32_t offset, unsigned size_class) const noexcept {
    if (!is_in_units(offset)) return {};
    std::uint32_t slab = unit_at(offset);
    std::uint32_t kind = units_[slab].kind.load(std::memory_order_relaxed);
    if (kind_of(kind) == UnitKind::slab_part) {
        if (number_of(kind) > slab) return {};
        slab -= number_of(kind);
        kind = units_[slab].kind.load(std::memory_order_relaxed);
    }
    if (kind != kind_word(UnitKind::slab, size_class)) return {};
    const std::uint32_t distance = offset - offset_of(slab);
    const std::uint32_t index = distance / kClassBytes[size_class];
    if (distance % kClassBytes[size_class] != 0 || index >= slab_blocks(size_class)) return {};
    return {slab, index};
}

bool SharedRegion::has_free_block(std::uint32_t slab) const noexcept {
    const std::uint32_t kind = units_[slab].kind.load(std::memory_order_relaxed);
    if (kind_of(kind) != UnitKind::slab) return false;
    for (std::uint32_t word = 0; word < words_of(number_of(kind)); ++word)
        if (free_word(slab, word).load(std::memory_order_seq_cst) != 0) return true;
    return false;
}

std::uint32_t SharedRegion::count_free(std::uint32_t slab) const noexcept {
    std::uint32_t count = 0;
    const unsigned size_class = number_of(units_[slab].kind.load(std::memory_order_relaxed));
    for (std::uint32_t word = 0; word < words_of(size_class); ++word)
        count +=
            static_cast<std::uint32_t>(std::popcount(free_word(slab, word).load(std::memory_order_acquire)));
    return count;
}

std::uint32_t SharedRegion::pop_slab(unsigned size_class, std::uint32_t holder) const noexcept {
    std::atomic<std::uint64_t>& list = header_->lists[size_class].head;
    std::uint64_t head = list.load(std::memory_order_acquire);
    for (;;) {
        const auto first = static_cast<std::uint32_t>(head & kFirstHalf);
        if (first == 0) return kNoUnit;
        // Of a slab that is not the first any more, this is something else; then the head has changed.
        const std::uint32_t second = units_[first - 1].next.load(std::memory_order_relaxed);
        if (!list.compare_exchange_weak(head, next_head(head, second), std::memory_order_acq_rel,
                                        std::memory_order_acquire))
            continue;
        units_[first - 1].state.store(kStateHeld + holder, std::memory_order_relaxed);
        return first - 1;
    }
}

// Requires: the caller has made the state kStateListed. Only then the class is the slab's own.
void SharedRegion::list_slab(std::uint32_t slab) const noexcept {
    const unsigned size_class = number_of(units_[slab].kind.load(std::memory_order_relaxed));
    std::atomic<std::uint64_t>& list = header_->lists[size_class].head;
    std::uint64_t head = list.load(std::memory_order_relaxed);
    do {
        units_[slab].next.store(static_cast<std::uint32_t>(head & kFirstHalf), std::memory_order_relaxed);
    } while (!list.compare_exchange_weak(head, next_head(head, slab + 1), std::memory_order_release,
                                         std::memory_order_relaxed));
}

std::uint32_t SharedRegion::make_slab(unsigned size_class, std::uint32_t holder) const noexcept {
    const std::uint32_t slab = take_units(slab_units(size_class));
    if (slab == kNoUnit) return kNoUnit;
    for (std::uint32_t part = 1; part < slab_units(size_class); ++part)
        units_[slab + part].kind.store(kind_word(UnitKind::slab_part, part), std::memory_order_relaxed);
    units_[slab].kind.store(kind_word(UnitKind::slab, size_class), std::memory_order_relaxed);
    units_[slab].state.store(kStateHeld + holder, std::memory_order_release);
    std::uint32_t left = slab_blocks(size_class);
    for (std::uint32_t word = 0; left != 0; ++word) {
        const std::uint32_t here = left < 64 ? left : 64;
        free_word(slab, word).store(low_mask<std::uint64_t>(here), std::memory_order_release);
        left -= here;
    }
    return slab;
}

void SharedRegion::put_down_slab(std::uint32_t slab) const noexcept {
    std::atomic<std::uint32_t>& state = units_[slab].state;
    if (has_free_block(slab)) {
        state.store(kStateListed, std::memory_order_relaxed);
        list_slab(slab);
        return;
    }
    state.store(kStateUnlisted, std::memory_order_seq_cst);
    // Whoever gave back a block before that has not seen it: one of the two lists the slab. From here on it
    // may be another's, even of another class; then it is not harmed by being listed, as the class is read
    // afterwards.
    std::uint32_t expected = kStateUnlisted;
    if (has_free_block(slab) && state.compare_exchange_strong(expected, kStateListed)) list_slab(slab);
}

void SharedRegion::give_block(std::uint32_t offset, unsigned size_class) const noexcept {
    const Place place = place_of(offset, size_class);
    OURO_ASSERT(place.slab != kNoUnit, "not a block of this shared region, or of another size");
    const std::uint64_t bit = std::uint64_t{1} << (place.index % 64);
    const std::uint64_t old =
        free_word(place.slab, place.index / 64).fetch_or(bit, std::memory_order_seq_cst);
    OURO_ASSERT((old & bit) == 0, "a block of a shared region was freed twice");
    std::uint32_t expected = kStateUnlisted;
    std::atomic<std::uint32_t>& state = units_[place.slab].state;
    if (state.load(std::memory_order_seq_cst) == kStateUnlisted &&
        state.compare_exchange_strong(expected, kStateListed))
        list_slab(place.slab);
}

// Requires: the caller holds the slab, and all its blocks are free.
void SharedRegion::end_slab(std::uint32_t slab) const noexcept {
    const unsigned size_class = number_of(units_[slab].kind.load(std::memory_order_relaxed));
    for (std::uint32_t word = 0; word < words_of(size_class); ++word)
        free_word(slab, word).store(0, std::memory_order_relaxed);
    units_[slab].state.store(kStateNone, std::memory_order_relaxed);
    for (std::uint32_t part = 0; part < slab_units(size_class); ++part)
        units_[slab + part].kind.store(kind_word(UnitKind::none, 0), std::memory_order_relaxed);
    give_units(slab, slab_units(size_class));
}

void SharedRegion::put_down_all_of(std::uint32_t holder) const noexcept {
    for (std::uint32_t unit = 0; unit < unit_count_; ++unit)
        if (units_[unit].state.load(std::memory_order_relaxed) == kStateHeld + holder) put_down_slab(unit);
}

}  // namespace ouro
