#pragma once

#include <ouro/streams/detail/sim_table.hpp>
#include <ouro/streams/image_heap.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>

namespace ouro::detail {

// The operations of a SimTable in the image. Entries are named by their numbers, which grow in the order of
// adding and stay until the next rebuild: when one is added and there is no room.
template <class Key, class Entry>
class SimTableRef {
public:
    using Table = SimTable<Key, Entry>;
    using Layout = SimTableLayout<Entry>;
    static constexpr std::uint32_t kNone = UINT32_MAX;

    // Over the entries that are there, in the order of adding. Removing does not disturb it, adding does.
    class Iterator {
    public:
        using value_type = Entry;
        using difference_type = std::ptrdiff_t;

        Iterator() noexcept = default;
        Iterator(const SimTableRef& table, std::uint32_t number) noexcept
            : stored_(table.stored_), number_(number) {
            if (stored_->slot_count_ == 0) return;
            live_ = table.live().data();
            entries_ = table.entries();
        }

        [[nodiscard]] const Entry& operator*() const noexcept { return entries_[number_]; }
        [[nodiscard]] const Entry* operator->() const noexcept { return entries_ + number_; }
        // Holes are few: a table with many is rebuilt.
        Iterator& operator++() noexcept {
            do {
                ++number_;
            } while (number_ < stored_->used_ && (live_[number_ / 64] >> (number_ % 64) & 1) == 0);
            return *this;
        }
        Iterator operator++(int) noexcept {
            const Iterator before = *this;
            ++*this;
            return before;
        }
        // Those that point behind the last are equal, also when the last was removed meanwhile.
        friend bool operator==(const Iterator& a, const Iterator& b) noexcept {
            return a.number_ == b.number_ || (a.is_at_end() && b.is_at_end());
        }

    private:
        [[nodiscard]] bool is_at_end() const noexcept {
            return stored_ == nullptr || number_ >= stored_->used_;
        }

        const Table* stored_ = nullptr;
        const std::uint64_t* live_ = nullptr;
        const Entry* entries_ = nullptr;
        std::uint32_t number_ = 0;
    };

    SimTableRef(ImageHeap& heap, Table& stored) noexcept : heap_(&heap), stored_(&stored) {}

    [[nodiscard]] std::uint32_t size() const noexcept { return stored_->size_; }
    [[nodiscard]] Iterator begin() const noexcept { return {*this, next_from(0)}; }
    [[nodiscard]] Iterator end() const noexcept { return {*this, stored_->used_}; }

    [[nodiscard]] const Entry& entry(std::uint32_t number) const noexcept { return entries()[number]; }
    [[nodiscard]] ImageHeap& heap() const noexcept { return *heap_; }

    // The number of the key's entry, or kNone.
    [[nodiscard]] std::uint32_t find(const Key& key) const noexcept {
        if (stored_->slot_count_ == 0) return kNone;
        const std::uint32_t at = find_slot(key, sim_hash(key));
        return at == kNone ? kNone : entry_of_slot(slots()[at]);
    }

    // The number of a new entry with this key, whose other bytes are whatever they were. Requires: the key is
    // not there. Fails as ImageHeap::allocate does, and nothing has changed then.
    [[nodiscard]] Expected<std::uint32_t> add(const Key& key) noexcept;
    bool erase(const Key& key) noexcept;
    Status reserve(std::uint32_t entries) noexcept;
    void clear() noexcept;
    void release() noexcept;

private:
    [[nodiscard]] std::byte* block() const noexcept { return stored_->block_.in(heap_->base()); }
    [[nodiscard]] std::uint64_t* slots() const noexcept { return reinterpret_cast<std::uint64_t*>(block()); }
    [[nodiscard]] std::span<std::uint64_t> live() const noexcept {
        const std::uint32_t count = stored_->slot_count_;
        return {reinterpret_cast<std::uint64_t*>(block() + Layout::live_at(count)),
                words_for_bits(Layout::capacity_of(count))};
    }
    [[nodiscard]] Entry* entries() const noexcept {
        return reinterpret_cast<Entry*>(block() + Layout::entries_at(stored_->slot_count_));
    }
    [[nodiscard]] std::uint32_t mask() const noexcept { return stored_->slot_count_ - 1; }
    [[nodiscard]] MemoryBlock memory() const noexcept {
        return {block(), static_cast<std::size_t>(Layout::bytes_of(stored_->slot_count_))};
    }

    [[nodiscard]] std::uint32_t next_from(std::uint32_t number) const noexcept {
        if (number >= stored_->used_) return stored_->used_;
        return static_cast<std::uint32_t>(find_set_bit(live(), number));
    }
    // Requires: there are slots.
    [[nodiscard]] std::uint32_t find_slot(const Key& key, std::uint32_t hash) const noexcept {
        const std::uint64_t* const all = slots();
        const Entry* const every = entries();
        for (std::uint32_t at = hash & mask();; at = (at + 1) & mask()) {
            const std::uint64_t slot = all[at];
            if (slot == 0) return kNone;
            if (hash_of_slot(slot) == hash && is_same_key(every[entry_of_slot(slot)].key, key)) return at;
        }
    }

    void put_slot(std::uint32_t hash, std::uint32_t entry) noexcept {
        std::uint32_t at = hash & mask();
        while (slots()[at] != 0)
            at = (at + 1) & mask();
        heap_->edit(slots()[at]) = slot_of(hash, entry);
    }
    void empty_slot(std::uint32_t hole) noexcept;
    void set_live(std::uint32_t number, bool is_live) noexcept {
        std::uint64_t& word = heap_->edit(live()[number / 64]);
        const std::uint64_t bit = std::uint64_t{1} << (number % 64);
        word = is_live ? word | bit : word & ~bit;
    }
    Status make_room() noexcept;
    Status move_to(std::uint32_t slot_count) noexcept;
    void pack(Entry* to) noexcept;
    void compact() noexcept;
    void clear_index() noexcept;
    // Requires: the index is clear, and the entries lie side by side.
    void index_packed() noexcept;

    ImageHeap* heap_;
    Table* stored_;
};

template <class Key, class Entry>
Expected<std::uint32_t> SimTableRef<Key, Entry>::add(const Key& key) noexcept {
    if (stored_->used_ == Layout::capacity_of(stored_->slot_count_)) [[unlikely]] {
        const Key kept = key;
        if (const Status status = make_room(); status != Status::ok) return status;
        return add(kept);
    }
    const std::uint32_t number = stored_->used_;
    put_slot(sim_hash(key), number);
    set_live(number, true);
    Entry& entry = heap_->edit(entries()[number]);
    // What lies between the fields is not the last one's.
    if constexpr (!SimValue<Entry>) std::memset(static_cast<void*>(&entry), 0, sizeof(Entry));
    entry.key = key;
    Table& stored = heap_->edit(*stored_);
    ++stored.used_;
    ++stored.size_;
    return number;
}

template <class Key, class Entry>
bool SimTableRef<Key, Entry>::erase(const Key& key) noexcept {
    if (stored_->slot_count_ == 0) return false;
    const std::uint32_t at = find_slot(key, sim_hash(key));
    if (at == kNone) return false;
    const std::uint32_t number = entry_of_slot(slots()[at]);
    empty_slot(at);
    set_live(number, false);
    Table& stored = heap_->edit(*stored_);
    --stored.size_;
    // Holes at the end are room again.
    while (stored.used_ != 0 && !test_bit(live(), stored.used_ - 1))
        --stored.used_;
    return true;
}

// What follows moves up, so that no search ends early: each only as far as its own hash allows.
template <class Key, class Entry>
void SimTableRef<Key, Entry>::empty_slot(std::uint32_t hole) noexcept {
    for (std::uint32_t next = (hole + 1) & mask(); slots()[next] != 0; next = (next + 1) & mask()) {
        const std::uint32_t wanted = hash_of_slot(slots()[next]) & mask();
        if (((next - wanted) & mask()) < ((next - hole) & mask())) continue;
        heap_->edit(slots()[hole]) = slots()[next];
        hole = next;
    }
    heap_->edit(slots()[hole]) = 0;
}

// In place when a quarter of the entries are holes, else twice as large.
template <class Key, class Entry>
Status SimTableRef<Key, Entry>::make_room() noexcept {
    const std::uint32_t holes = stored_->used_ - stored_->size_;
    if (holes != 0 && holes >= stored_->used_ / 4) {
        compact();
        return Status::ok;
    }
    if (stored_->slot_count_ == 0) return move_to(Layout::kMinSlots);
    if (stored_->slot_count_ == Layout::kMaxSlots) return Status::capacity_exhausted;
    const Status status = move_to(stored_->slot_count_ * 2);
    if (status == Status::ok || holes == 0) return status;
    // Full: what holes there are must do.
    compact();
    return Status::ok;
}

// Writes the live entries side by side, from the first; `to` may be where they are.
template <class Key, class Entry>
void SimTableRef<Key, Entry>::pack(Entry* to) noexcept {
    std::uint32_t count = 0;
    for (std::uint32_t number = next_from(0); number < stored_->used_;
         number = next_from(number + 1), ++count) {
        const Entry* const from = entries() + number;
        if (from == to + count) continue;
        heap_->mark(to + count, sizeof(Entry));
        std::memmove(static_cast<void*>(to + count), from, sizeof(Entry));
    }
}

template <class Key, class Entry>
void SimTableRef<Key, Entry>::compact() noexcept {
    pack(entries());
    clear_index();
    index_packed();
}

template <class Key, class Entry>
void SimTableRef<Key, Entry>::clear_index() noexcept {
    const auto bytes = static_cast<std::size_t>(Layout::entries_at(stored_->slot_count_));
    heap_->mark(block(), bytes);
    std::memset(block(), 0, bytes);
}

template <class Key, class Entry>
void SimTableRef<Key, Entry>::index_packed() noexcept {
    const std::uint32_t count = stored_->size_;
    heap_->mark(live().data(), words_for_bits(count) * sizeof(std::uint64_t));
    set_bits(live(), 0, count);
    for (std::uint32_t number = 0; number < count; ++number)
        put_slot(sim_hash(entries()[number].key), number);
    heap_->edit(stored_->used_) = count;
}

template <class Key, class Entry>
Status SimTableRef<Key, Entry>::move_to(std::uint32_t slot_count) noexcept {
    const std::uint64_t bytes = Layout::bytes_of(slot_count);
    if (bytes >= heap_->base().size()) return Status::capacity_exhausted;
    const auto fresh = heap_->allocate_unclear(static_cast<std::size_t>(bytes), alignof(Entry));
    if (!fresh) return fresh.status();
    const MemoryBlock old = stored_->slot_count_ == 0 ? MemoryBlock{} : memory();
    if (!old.is_null()) pack(reinterpret_cast<Entry*>(fresh->data + Layout::entries_at(slot_count)));
    Table& stored = heap_->edit(*stored_);
    stored.block_ = OffsetPtr<std::byte>::from_offset(heap_->offset_of(fresh->data));
    stored.slot_count_ = slot_count;
    clear_index();
    index_packed();
    heap_->deallocate(old);
    return Status::ok;
}

template <class Key, class Entry>
Status SimTableRef<Key, Entry>::reserve(std::uint32_t wanted) noexcept {
    std::uint32_t slot_count = Layout::kMinSlots;
    while (Layout::capacity_of(slot_count) < wanted) {
        if (slot_count == Layout::kMaxSlots) return Status::capacity_exhausted;
        slot_count *= 2;
    }
    return slot_count <= stored_->slot_count_ ? Status::ok : move_to(slot_count);
}

template <class Key, class Entry>
void SimTableRef<Key, Entry>::clear() noexcept {
    if (stored_->size_ == 0) return;
    clear_index();
    Table& stored = heap_->edit(*stored_);
    stored.size_ = 0;
    stored.used_ = 0;
}

template <class Key, class Entry>
void SimTableRef<Key, Entry>::release() noexcept {
    if (stored_->slot_count_ != 0) heap_->deallocate(memory());
    heap_->edit(*stored_) = {};
}

}  // namespace ouro::detail
