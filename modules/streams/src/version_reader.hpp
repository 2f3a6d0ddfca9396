#pragma once

#include "packed_store.hpp"
#include "page_packing.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <span>

namespace ouro::detail {

// A page is packed as its difference to a newer version so many times running; then one stands for itself.
inline constexpr std::uint32_t kChainLength = 16;
// Thinned-out history, lines and old history each count for themselves, and follow each other in this order.
inline constexpr std::uint32_t kMaxSteps = 3 * kChainLength + 2;

// Applies what follows a record. False when it is damaged. Requires: no lengths above kMaxPackedBytes.
[[nodiscard]] bool apply_bytes(const PackedRecord& record, const std::byte* bytes, std::byte* page) noexcept;

// Applies one record to the page it is a difference to, and gives its beginning. False when it is damaged, or
// `may_look(slot)`, asked before it is looked at anything, says no.
template <class MayLook = AnySlot>
[[nodiscard]] bool apply_record(const SlotStore& slots, const PackedStore& packed, std::uint32_t word,
                                std::byte* page, PackedRecord& record, MayLook&& may_look = {}) noexcept {
    if (!may_look(PackedStore::slot_of(word))) return false;
    record = PackedStore::record(slots, word);
    if (record.bytes > kMaxPackedBytes || record.packed_bytes > kMaxPackedBytes) return false;
    alignas(64) std::array<std::byte, kMaxPackedBytes> gathered;
    const std::byte* bytes = packed.bytes_of(slots, word, gathered.data(), may_look);
    return bytes != nullptr && apply_bytes(record, bytes, page);
}

// Takes every record for one of the page that is read.
struct AnyRecord {
    bool operator()(const PackedRecord&, const std::byte*) const noexcept { return true; }
};

// The bytes of a version, packed or not. `find_base(tick)` gives the word of the page's version at a tick.
// `belongs(record, bytes)` says of each record on the way whether it is one of this page, which came out as
// these bytes. `may_look(slot)` is asked before each look at another slot. False when it says no, when one
// does not belong, is damaged, or is packed against an older one, as no record is. Requires: all that may be
// looked at stays meanwhile.
template <class FindBase, class Belongs = AnyRecord, class MayLook = AnySlot>
[[nodiscard]] bool read_version(const SlotStore& slots, const PackedStore& packed, std::uint32_t word,
                                std::byte* out, FindBase&& find_base, Belongs&& belongs = {},
                                MayLook&& may_look = {}) noexcept {
    std::array<std::uint32_t, kMaxSteps> steps;
    std::size_t count = 0;
    std::uint32_t newest_base = 0;
    while (is_packed(word)) {
        if (count == steps.size() || !may_look(PackedStore::slot_of(word))) return false;
        const PackedRecord record = PackedStore::record(slots, word);
        steps[count++] = word;
        word = 0;
        if (record.base_tick == PackedRecord::kNoBase) break;
        if (record.base_tick <= newest_base) return false;
        newest_base = record.base_tick;
        word = find_base(record.base_tick);
        if (word == 0) return false;
    }
    if (word != 0 && !may_look(word)) return false;
    if (word == 0)
        std::memset(out, 0, kStatePageBytes);
    else
        std::memcpy(out, slots.page(word), kStatePageBytes);
    while (count != 0) {
        PackedRecord record;
        if (!apply_record(slots, packed, steps[--count], out, record, may_look)) return false;
        if (!belongs(record, out)) return false;
    }
    return true;
}

}  // namespace ouro::detail
