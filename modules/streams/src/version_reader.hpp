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

// Applies one record to the page it is a difference to. False when it is damaged.
[[nodiscard]] bool apply_record(const SlotStore& slots, const PackedStore& packed, std::uint32_t word,
                                std::byte* page) noexcept;

// Takes every record for one of the page that is read.
struct AnyRecord {
    bool operator()(const PackedRecord&, const std::byte*) const noexcept { return true; }
};

// The bytes of a version, packed or not. `find_base(tick)` gives the word of the page's version at a tick.
// `belongs(record, bytes)` says of each record on the way whether it is one of this page, which came out as
// these bytes. False when one does not belong, is damaged, or is packed against an older one, as no record
// is. Requires: all that it is made from stays meanwhile.
template <class FindBase, class Belongs = AnyRecord>
[[nodiscard]] bool read_version(const SlotStore& slots, const PackedStore& packed, std::uint32_t word,
                                std::byte* out, FindBase&& find_base, Belongs&& belongs = {}) noexcept {
    std::array<std::uint32_t, kMaxSteps> steps;
    std::size_t count = 0;
    std::uint32_t newest_base = 0;
    while (is_packed(word)) {
        const PackedRecord record = PackedStore::record(slots, word);
        if (count == steps.size()) return false;
        steps[count++] = word;
        word = 0;
        if (record.base_tick == PackedRecord::kNoBase) break;
        if (record.base_tick <= newest_base) return false;
        newest_base = record.base_tick;
        word = find_base(record.base_tick);
        if (word == 0) return false;
    }
    if (word == 0)
        std::memset(out, 0, kStatePageBytes);
    else
        std::memcpy(out, slots.page(word), kStatePageBytes);
    while (count != 0) {
        const std::uint32_t step = steps[--count];
        if (!apply_record(slots, packed, step, out)) return false;
        if (!belongs(PackedStore::record(slots, step), out)) return false;
    }
    return true;
}

}  // namespace ouro::detail
