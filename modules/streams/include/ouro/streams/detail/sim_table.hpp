#pragma once

#include <ouro/base/align.hpp>
#include <ouro/base/bits.hpp>
#include <ouro/base/expected.hpp>
#include <ouro/base/hash.hpp>
#include <ouro/base/offset_ptr.hpp>
#include <ouro/base/sim_value.hpp>
#include <ouro/streams/image_owner.hpp>
#include <ouro/streams/past_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

// What SimMap and SimSet have in common: entries in the order in which they were added, and an index by hash
// that says where an entry is. Everything lies in one block of an ImageHeap:
//
//     slots    one word each, 0 when empty: the entry's number plus one, and above it 32 bits of its hash
//     live     one bit an entry: removed entries leave a hole until the next rebuild
//     entries
namespace ouro::detail {

// The same everywhere. Keys have no padding: equal keys have equal bytes.
template <SimKey Key>
[[nodiscard]] std::uint32_t sim_hash(const Key& key) noexcept {
    if constexpr (sizeof(Key) <= sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, &key, sizeof(Key));
        return static_cast<std::uint32_t>(mix_bits(word + 1) >> 32);
    } else {
        return static_cast<std::uint32_t>(hash_bytes(&key, sizeof(Key)) >> 32);
    }
}

template <SimKey Key>
[[nodiscard]] bool is_same_key(const Key& a, const Key& b) noexcept {
    return std::memcmp(&a, &b, sizeof(Key)) == 0;
}

// Where the parts lie, for a number of slots: zero or a power of two.
template <class Entry>
struct SimTableLayout {
    static constexpr std::uint32_t kMinSlots = 8;
    static constexpr std::uint32_t kMaxSlots = std::uint32_t{1} << 29;
    // Of the block, and of the entries in it.
    static constexpr std::size_t kAlignment = alignof(Entry) > 16 ? alignof(Entry) : 16;

    [[nodiscard]] static constexpr std::uint32_t capacity_of(std::uint32_t slots) noexcept {
        return slots / 4 * 3;
    }
    [[nodiscard]] static constexpr std::uint64_t live_at(std::uint32_t slots) noexcept {
        return std::uint64_t{slots} * sizeof(std::uint64_t);
    }
    [[nodiscard]] static constexpr std::uint64_t entries_at(std::uint32_t slots) noexcept {
        const std::uint64_t end = live_at(slots) + words_for_bits(capacity_of(slots)) * sizeof(std::uint64_t);
        return (end + kAlignment - 1) / kAlignment * kAlignment;
    }
    [[nodiscard]] static constexpr std::uint64_t bytes_of(std::uint32_t slots) noexcept {
        return entries_at(slots) + std::uint64_t{capacity_of(slots)} * sizeof(Entry);
    }
};

[[nodiscard]] constexpr std::uint64_t slot_of(std::uint32_t hash, std::uint32_t entry) noexcept {
    return std::uint64_t{hash} << 32 | (entry + 1);
}
[[nodiscard]] constexpr std::uint32_t hash_of_slot(std::uint64_t slot) noexcept {
    return static_cast<std::uint32_t>(slot >> 32);
}
// Requires: the slot is not empty.
[[nodiscard]] constexpr std::uint32_t entry_of_slot(std::uint64_t slot) noexcept {
    return static_cast<std::uint32_t>(slot) - 1;
}

// Whether every slot that is not empty is found from where its hash leads, and no two name one entry: ok or
// corrupt_data, in time that grows as the table does, whatever is in it. One whose hashes are mostly the same
// needs memory for that while it is looked at: fails as os::reserve does. Requires: a power of two of slots,
// each names one of so many entries, and two with one entry have the same hash.
[[nodiscard]] Status check_slots(std::span<const std::uint64_t> slots, std::uint32_t entries) noexcept;

// What is stored: pure data. All zero is an empty table.
template <class Key, class Entry>
class SimTable {
public:
    using Layout = SimTableLayout<Entry>;

    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
    [[nodiscard]] bool is_empty() const noexcept { return size_ == 0; }

    // Walks all of it, as it must be to be read: ok, corrupt_data, or as check_slots() fails.
    [[nodiscard]] Status check(ConstOffsetBase base) const noexcept;
    // And whether it can be memory of the heap, which is asked before the table is changed.
    [[nodiscard]] Status check(const ImageHeap& heap) const noexcept {
        if (const Status status = check(heap.base()); status != Status::ok) return status;
        const bool is_of_it =
            slot_count_ == 0 || heap.can_have(block_.offset(), Layout::bytes_of(slot_count_));
        return is_of_it ? Status::ok : Status::corrupt_data;
    }

    // For owner_source().
    [[nodiscard]] bool find_owner(ConstOffsetBase base, std::uint64_t offset,
                                  ImageOwner& owner) const noexcept;

protected:
    template <class, class>
    friend class SimTableRef;

    // The entry of a key in a past tick. Fails with not_found, and out_of_range for bytes that are no table.
    [[nodiscard]] Expected<Entry> find_past(const PastReader& past, const Key& key) const noexcept;
    // Calls with each entry of a past tick, in order. out_of_range as above.
    template <class Visit>
    Status visit_past(const PastReader& past, Visit&& visit) const noexcept;

    [[nodiscard]] bool has_sound_numbers() const noexcept {
        if (slot_count_ == 0) return block_.is_null() && size_ == 0 && used_ == 0;
        return std::has_single_bit(slot_count_) && slot_count_ >= Layout::kMinSlots &&
               slot_count_ <= Layout::kMaxSlots && !block_.is_null() &&
               block_.offset() % Layout::kAlignment == 0 && size_ <= used_ &&
               used_ <= Layout::capacity_of(slot_count_);
    }

    OffsetPtr<std::byte> block_;
    // Entries that are there; and those ever added since the last rebuild.
    std::uint32_t size_ = 0;
    std::uint32_t used_ = 0;
    std::uint32_t slot_count_ = 0;
};

template <class Key, class Entry>
Expected<Entry> SimTable<Key, Entry>::find_past(const PastReader& past, const Key& key) const noexcept {
    if (!has_sound_numbers()) return Status::out_of_range;
    const std::uint32_t hash = sim_hash(key);
    for (std::uint32_t step = 0; step < slot_count_; ++step) {
        const std::uint32_t number = (hash + step) & (slot_count_ - 1);
        const auto slot =
            past.load<std::uint64_t>(block_.offset() + std::uint64_t{number} * sizeof(std::uint64_t));
        if (!slot) return slot.status();
        if (*slot == 0) break;
        if (hash_of_slot(*slot) != hash) continue;
        const auto entry = past.load<Entry>(block_.offset() + Layout::entries_at(slot_count_) +
                                            std::uint64_t{entry_of_slot(*slot)} * sizeof(Entry));
        if (!entry) return entry.status();
        if (is_same_key(entry->key, key)) return *entry;
    }
    return Status::not_found;
}

template <class Key, class Entry>
template <class Visit>
Status SimTable<Key, Entry>::visit_past(const PastReader& past, Visit&& visit) const noexcept {
    if (!has_sound_numbers()) return Status::out_of_range;
    std::uint64_t live = 0;
    for (std::uint32_t number = 0; number < used_; ++number) {
        if (number % 64 == 0) {
            const auto word =
                past.load<std::uint64_t>(block_.offset() + Layout::live_at(slot_count_) + number / 8);
            if (!word) return word.status();
            live = *word;
        }
        if ((live >> (number % 64) & 1) == 0) continue;
        const auto entry = past.load<Entry>(block_.offset() + Layout::entries_at(slot_count_) +
                                            std::uint64_t{number} * sizeof(Entry));
        if (!entry) return entry.status();
        visit(*entry);
    }
    return Status::ok;
}

template <class Key, class Entry>
bool SimTable<Key, Entry>::find_owner(ConstOffsetBase base, std::uint64_t offset,
                                      ImageOwner& owner) const noexcept {
    if (slot_count_ == 0 || !has_sound_numbers()) return false;
    const std::uint64_t bytes = Layout::bytes_of(slot_count_);
    const std::uint64_t within = offset - block_.offset();
    if (offset < block_.offset() || within >= bytes) return false;
    if (block_.offset() > base.size() || bytes > base.size() - block_.offset()) return false;
    const std::uint64_t entries_at = Layout::entries_at(slot_count_);
    owner.offset = block_.offset();
    owner.bytes = entries_at;
    owner.kind = OwnerKind::table_index;
    if (within < entries_at) return true;
    const std::uint64_t number = (within - entries_at) / sizeof(Entry);
    std::uint64_t live = 0;
    const std::uint64_t live_at = block_.offset() + Layout::live_at(slot_count_) + number / 64 * sizeof(live);
    std::memcpy(&live, base.start() + static_cast<std::size_t>(live_at), sizeof(live));
    const bool is_live = number < used_ && (live >> (number % 64) & 1) != 0;
    owner.kind = is_live ? OwnerKind::entry : OwnerKind::entry_place;
    owner.offset = block_.offset() + entries_at + number * sizeof(Entry);
    owner.bytes = sizeof(Entry);
    owner.number = number;
    return true;
}

// What a map or a set is asked by.
template <class Table>
[[nodiscard]] OwnerSource table_owner_source(std::string_view name, const Table& table) noexcept {
    return {.name = name,
            .context = &table,
            .find = [](const void* context, ConstOffsetBase base, std::uint64_t offset, ImageOwner& owner) {
                return static_cast<const Table*>(context)->find_owner(base, offset, owner);
            }};
}

template <class Key, class Entry>
Status SimTable<Key, Entry>::check(ConstOffsetBase base) const noexcept {
    if (!has_sound_numbers()) return Status::corrupt_data;
    if (slot_count_ == 0) return Status::ok;
    if (block_.offset() > base.size() || Layout::bytes_of(slot_count_) > base.size() - block_.offset())
        return Status::corrupt_data;
    const std::byte* const block = block_.in(base);
    const std::span<const std::uint64_t> slots(reinterpret_cast<const std::uint64_t*>(block), slot_count_);
    const std::span<const std::uint64_t> live(
        reinterpret_cast<const std::uint64_t*>(block + Layout::live_at(slot_count_)),
        words_for_bits(Layout::capacity_of(slot_count_)));
    const auto* const entries = reinterpret_cast<const Entry*>(block + Layout::entries_at(slot_count_));
    std::uint32_t filled = 0;
    for (const std::uint64_t slot : slots) {
        if (slot == 0) continue;
        ++filled;
        const std::uint32_t entry = entry_of_slot(slot);
        if (entry >= used_ || !test_bit(live, entry) || sim_hash(entries[entry].key) != hash_of_slot(slot))
            return Status::corrupt_data;
    }
    std::uint32_t alive = 0;
    for (const std::uint64_t word : live)
        alive += static_cast<std::uint32_t>(std::popcount(word));
    const bool ends_alive = used_ == 0 || test_bit(live, used_ - 1);
    if (filled != size_ || alive != size_ || !ends_alive) return Status::corrupt_data;
    return check_slots(slots, used_);
}

}  // namespace ouro::detail
