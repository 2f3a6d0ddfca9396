#pragma once

#include "carver.hpp"
#include "slot_store.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace ouro::detail {

// Where a version is kept: the number of a slot, or the place of a record in one. Zero: a page of zeros.
inline constexpr std::uint32_t kPackedBit = std::uint32_t{1} << 31;
[[nodiscard]] constexpr bool is_packed(std::uint32_t word) noexcept {
    return (word & kPackedBit) != 0;
}

// The beginning of a record: what the page differs in from its version at the base tick, which is newer, or
// from a page of zeros.
struct PackedRecord {
    static constexpr std::uint32_t kNoBase = ~std::uint32_t{0};

    // What the page adds to the hash of its ticks, where there is one.
    std::uint64_t hash = 0;
    std::uint32_t base_tick = kNoBase;
    // What follows, and what it was before it was squeezed; the same when it was not.
    std::uint16_t bytes = 0;
    std::uint16_t packed_bytes = 0;
};
static_assert(sizeof(PackedRecord) == 16);

// Every slot may be looked at.
struct AnySlot {
    bool operator()(std::uint32_t) const noexcept { return true; }
};

// Records of packed versions, one behind the other in slots of the store that they share with whole pages. A
// slot is free again when none of its records is needed. One that does not fit goes on in the next slot.
//
// append() is for whoever packs; all else is for the thread that commits, but that any thread may read a
// record that it knows to stay.
class PackedStore {
public:
    // A word has room for so many slots.
    static constexpr std::uint32_t kMaxSlots = (std::uint32_t{1} << 23) - 1;

    // Where the next record goes. No slot yet: zero.
    struct End {
        std::uint32_t slot = 0;
        std::uint32_t used = 0;
    };
    // Slots that may be used, in order.
    struct Spare {
        std::span<const std::uint32_t> slots;
        std::size_t taken = 0;
    };

    void carve(Carver& carver, std::uint32_t slots) noexcept;

    // Writes a record and returns its word; zero when there are not enough spare slots.
    [[nodiscard]] std::uint32_t append(const SlotStore& slots, End& end, Spare& spare,
                                       const PackedRecord& record, const std::byte* bytes) noexcept;

    [[nodiscard]] static PackedRecord record(const SlotStore& slots, std::uint32_t word) noexcept;
    [[nodiscard]] static std::uint32_t slot_of(std::uint32_t word) noexcept {
        return (word & ~kPackedBit) >> kUnitBits;
    }
    // What follows the record: where it is, or copied into the room when it lies in two slots.
    // `may_look(slot)` is asked for the second one, and not any more for the first; null when it says no.
    // Requires: room for kStatePageBytes.
    template <class MayLook = AnySlot>
    [[nodiscard]] const std::byte* bytes_of(const SlotStore& slots, std::uint32_t word, std::byte* room,
                                            MayLook&& may_look = {}) const noexcept;

    // A record is needed; no longer. Slots that nothing holds any more are given back.
    void hold(const SlotStore& slots, std::uint32_t word) noexcept;
    void release(SlotStore& slots, std::uint32_t word) noexcept;
    // The same for a slot as a whole.
    void hold_slot(std::uint32_t slot) noexcept { ++held_[slot]; }
    void release_slot(SlotStore& slots, std::uint32_t slot) noexcept;

    [[nodiscard]] std::uint64_t record_count() const noexcept { return records_; }
    // With their beginnings.
    [[nodiscard]] std::uint64_t record_bytes() const noexcept { return bytes_; }

    // For check(): counts again what is held.
    void begin_recount() noexcept;
    [[nodiscard]] bool recount(const SlotStore& slots, std::uint32_t word) noexcept;
    void recount_slot(std::uint32_t slot) noexcept { ++counted_[slot]; }
    // True when it is as it should be; adds the slots in use to the count, each seen for the first time.
    [[nodiscard]] bool end_recount(std::span<std::uint8_t> seen, std::uint64_t& count) noexcept;

private:
    static constexpr std::uint32_t kUnit = sizeof(PackedRecord);
    static constexpr unsigned kUnitBits = 8;

    static std::uint32_t offset_of(std::uint32_t word) noexcept {
        return (word & ((1U << kUnitBits) - 1)) * kUnit;
    }
    [[nodiscard]] static bool goes_on(std::uint32_t offset, std::uint32_t bytes) noexcept {
        return offset + kUnit + bytes > kStatePageBytes;
    }

    // By slot: where its last record goes on, and how many hold it.
    std::span<std::uint32_t> next_;
    std::span<std::uint16_t> held_;
    std::span<std::uint16_t> counted_;
    std::uint64_t records_ = 0;
    std::uint64_t bytes_ = 0;
};

template <class MayLook>
const std::byte* PackedStore::bytes_of(const SlotStore& slots, std::uint32_t word, std::byte* room,
                                       MayLook&& may_look) const noexcept {
    const std::uint32_t slot = slot_of(word);
    const std::uint32_t offset = offset_of(word);
    const std::uint32_t bytes = record(slots, word).bytes;
    const std::byte* from = slots.page(slot) + offset + kUnit;
    if (!goes_on(offset, bytes)) return from;
    const std::size_t first = kStatePageBytes - offset - kUnit;
    if (first != 0) std::memcpy(room, from, first);
    const std::uint32_t next = next_[slot];
    if (!may_look(next)) return nullptr;
    std::memcpy(room + first, slots.page(next), bytes - first);
    return room;
}

}  // namespace ouro::detail
