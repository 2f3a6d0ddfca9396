#pragma once

#include <ouro/streams/detail/sim_table_ref.hpp>

#include <cstdint>
#include <cstring>
#include <string_view>

namespace ouro {

template <class Key, class Value>
struct SimMapEntry {
    Key key;
    Value value;
};

template <class Key, class Value>
class SimMapRef;

// A map by hash whose entries lie in an ImageHeap. Iteration is in the order in which keys were added,
// whatever their hashes; removing a key and adding it again puts it last. All zero is an empty one; release()
// before what holds it goes.
//
//     struct Player { SimMap<ItemId, std::uint32_t> items; };
//     auto items = heap.bind(player.items);
//     items.set(kSword, 1);
//     if (const std::uint32_t* count = items.find(kSword)) ...
//     for (const auto& [item, count] : items) ...
template <class Key, class Value>
class SimMap : public detail::SimTable<Key, SimMapEntry<Key, Value>> {
public:
    using Bound = SimMapRef<Key, Value>;
    using Entry = SimMapEntry<Key, Value>;

    // In a past tick, of which this header is too. Fails with not_found; out_of_range for bytes that are
    // none.
    [[nodiscard]] Expected<Value> find(const PastReader& past, const Key& key) const noexcept {
        const auto entry = this->find_past(past, key);
        if (!entry) return entry.status();
        return entry->value;
    }
    // Calls with each entry of a past tick, in order.
    template <class Visit>
    Status visit(const PastReader& past, Visit&& visit_entry) const noexcept {
        return this->visit_past(past, visit_entry);
    }
};

template <class Key, class Value>
inline constexpr bool kIsSimValue<SimMap<Key, Value>> = true;
static_assert(sizeof(SimMap<int, double>) == 16 && alignof(SimMap<int, double>) == 4);
static_assert(std::is_standard_layout_v<SimMap<int, double>> && SimKey<SimMap<int, double>>);

// Tells reports which entry has a byte. Requires: the map lies in the image that is asked about.
template <class Key, class Value>
[[nodiscard]] OwnerSource owner_source(std::string_view name, const SimMap<Key, Value>& map) noexcept {
    return detail::table_owner_source(name, map);
}

// The operations of a SimMap in the image; see ImageHeap::bind. Values move when a key is added. Those that
// fail do so as ImageHeap::allocate does, and leave the map as it was.
template <class Key, class Value>
class SimMapRef {
    static_assert(require_sim_value<Key>() && require_sim_value<Value>());
    static_assert(SimKey<Key>,
                  "a key is equal when its bytes are: use integers, handles, FixedString, not floats");
    using Table = detail::SimTableRef<Key, SimMapEntry<Key, Value>>;

public:
    SimMapRef(ImageHeap& heap, SimMap<Key, Value>& stored) noexcept : table_(heap, stored) {}

    [[nodiscard]] std::uint32_t size() const noexcept { return table_.size(); }
    [[nodiscard]] bool is_empty() const noexcept { return size() == 0; }
    [[nodiscard]] auto begin() const noexcept { return table_.begin(); }
    [[nodiscard]] auto end() const noexcept { return table_.end(); }

    // Null when there is none.
    [[nodiscard]] const Value* find(const Key& key) const noexcept {
        const std::uint32_t number = table_.find(key);
        return number == Table::kNone ? nullptr : &table_.entry(number).value;
    }
    [[nodiscard]] bool contains(const Key& key) const noexcept { return table_.find(key) != Table::kNone; }
    // The value for writing, which is declared; null when there is none.
    [[nodiscard]] Value* edit(const Key& key) noexcept {
        const Value* const found = find(key);
        return found == nullptr ? nullptr : &table_.heap().edit(*found);
    }

    // Adds the key or replaces its value. Both may lie in this map.
    Status set(const Key& key, const Value& value) noexcept {
        if (Value* const found = edit(key); found != nullptr) {
            *found = value;
            return Status::ok;
        }
        const Value kept = value;
        const auto number = table_.add(key);
        if (!number) return number.status();
        table_.heap().edit(table_.entry(*number).value) = kept;
        return Status::ok;
    }
    // The value for writing; when the key is new, of zeros.
    [[nodiscard]] Expected<Value*> edit_or_add(const Key& key) noexcept {
        if (Value* const found = edit(key); found != nullptr) return found;
        const auto number = table_.add(key);
        if (!number) return number.status();
        Value& value = table_.heap().edit(table_.entry(*number).value);
        std::memset(static_cast<void*>(&value), 0, sizeof(Value));
        return &value;
    }
    // Whether it was there. The others stay where they are: safe while iterating.
    bool erase(const Key& key) noexcept { return table_.erase(key); }

    // Room for so many without another allocation, as long as none is removed: what is gone takes room until
    // the next rebuild.
    Status reserve(std::uint32_t entries) noexcept { return table_.reserve(entries); }
    // Keeps the memory.
    void clear() noexcept { table_.clear(); }
    // Gives the memory back.
    void release() noexcept { table_.release(); }

private:
    Table table_;
};

}  // namespace ouro
