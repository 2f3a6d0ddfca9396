#include "packed_store.hpp"

#include <ouro/base/align.hpp>

#include <algorithm>
#include <cstring>

namespace ouro::detail {

void PackedStore::carve(Carver& carver, std::uint32_t slots) noexcept {
    next_ = carver.take<std::uint32_t>(std::uint64_t{slots} + 1);
    held_ = carver.take<std::uint16_t>(std::uint64_t{slots} + 1);
    counted_ = carver.take<std::uint16_t>(std::uint64_t{slots} + 1);
}

std::uint32_t PackedStore::append(const SlotStore& slots, End& end, Spare& spare, const PackedRecord& record,
                                  const std::byte* bytes) noexcept {
    const bool needs_slot = end.slot == 0 || end.used == kStatePageBytes;
    const std::uint32_t offset = needs_slot ? 0 : end.used;
    const bool crosses = goes_on(offset, record.bytes);
    const std::size_t needed = (needs_slot ? 1U : 0U) + (crosses ? 1U : 0U);
    if (spare.slots.size() - spare.taken < needed) return 0;
    if (needs_slot) end = {.slot = spare.slots[spare.taken++], .used = 0};
    const std::uint32_t word = kPackedBit | end.slot << kUnitBits | end.used / kUnit;
    std::byte* to = slots.page(end.slot) + end.used;
    std::memcpy(to, &record, sizeof(record));
    const std::size_t room = kStatePageBytes - end.used - kUnit;
    const std::size_t first = std::min<std::size_t>(record.bytes, room);
    if (first != 0) std::memcpy(to + kUnit, bytes, first);
    end.used += static_cast<std::uint32_t>(align_up(kUnit + first, kUnit));
    if (!crosses) return word;
    const std::uint32_t next = spare.slots[spare.taken++];
    next_[end.slot] = next;
    const std::size_t rest = record.bytes - first;
    std::memcpy(slots.page(next), bytes + first, rest);
    end = {.slot = next, .used = static_cast<std::uint32_t>(align_up(rest, kUnit))};
    return word;
}

PackedRecord PackedStore::record(const SlotStore& slots, std::uint32_t word) noexcept {
    PackedRecord record;
    std::memcpy(&record, slots.page(slot_of(word)) + offset_of(word), sizeof(record));
    return record;
}

void PackedStore::hold(const SlotStore& slots, std::uint32_t word) noexcept {
    const std::uint32_t slot = slot_of(word);
    const std::uint32_t bytes = record(slots, word).bytes;
    hold_slot(slot);
    if (goes_on(offset_of(word), bytes)) hold_slot(next_[slot]);
    ++records_;
    bytes_ += align_up(kUnit + bytes, kUnit);
}

void PackedStore::release(SlotStore& slots, std::uint32_t word) noexcept {
    const std::uint32_t slot = slot_of(word);
    const std::uint32_t bytes = record(slots, word).bytes;
    if (goes_on(offset_of(word), bytes)) release_slot(slots, next_[slot]);
    release_slot(slots, slot);
    --records_;
    bytes_ -= align_up(kUnit + bytes, kUnit);
}

void PackedStore::release_slot(SlotStore& slots, std::uint32_t slot) noexcept {
    OURO_ASSERT(held_[slot] != 0, "nobody holds the slot");
    if (--held_[slot] == 0) slots.give(slot);
}

void PackedStore::begin_recount() noexcept {
    std::ranges::fill(counted_, std::uint16_t{0});
}

bool PackedStore::recount(const SlotStore& slots, std::uint32_t word) noexcept {
    const std::uint32_t slot = slot_of(word);
    if (slot == 0 || slot >= held_.size() || held_[slot] == 0) return false;
    recount_slot(slot);
    if (!goes_on(offset_of(word), record(slots, word).bytes)) return true;
    if (next_[slot] == 0 || next_[slot] >= held_.size()) return false;
    recount_slot(next_[slot]);
    return true;
}

bool PackedStore::end_recount(std::span<std::uint8_t> seen, std::uint64_t& count) noexcept {
    for (std::size_t slot = 1; slot < held_.size(); ++slot) {
        if (held_[slot] != counted_[slot]) return false;
        if (held_[slot] == 0) continue;
        if (seen[slot] != 0) return false;
        seen[slot] = 1;
        ++count;
    }
    return true;
}

}  // namespace ouro::detail
