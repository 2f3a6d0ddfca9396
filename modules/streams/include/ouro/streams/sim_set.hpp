#pragma once

#include <ouro/streams/detail/sim_table_ref.hpp>

#include <cstdint>
#include <string_view>

namespace ouro {

template <class Key>
struct SimSetEntry {
    Key key;
};

template <class Key>
class SimSetRef;

// A set by hash whose keys lie in an ImageHeap, iterated in the order in which they were added; see SimMap.
template <class Key>
class SimSet : public detail::SimTable<Key, SimSetEntry<Key>> {
public:
    using Bound = SimSetRef<Key>;
    using Entry = SimSetEntry<Key>;

    // Whether the key was there in a past tick, of which this header is too. out_of_range for bytes that are
    // no set.
    [[nodiscard]] Expected<bool> contains(const PastReader& past, const Key& key) const noexcept {
        const auto entry = this->find_past(past, key);
        if (entry.status() == Status::not_found) return false;
        if (!entry) return entry.status();
        return true;
    }
    // Calls with each key of a past tick, in order.
    template <class Visit>
    Status visit(const PastReader& past, Visit&& visit_key) const noexcept {
        return this->visit_past(past, [&](const Entry& entry) { visit_key(entry.key); });
    }
};

template <class Key>
inline constexpr bool kIsSimValue<SimSet<Key>> = true;
static_assert(sizeof(SimSet<int>) == 16 && alignof(SimSet<int>) == 4 && SimKey<SimSet<int>>);

// As for a SimMap.
template <class Key>
[[nodiscard]] OwnerSource owner_source(std::string_view name, const SimSet<Key>& set) noexcept {
    return detail::table_owner_source(name, set);
}

// The operations of a SimSet in the image; see ImageHeap::bind. What fails does so as ImageHeap::allocate
// does, and leaves the set as it was.
template <class Key>
class SimSetRef {
    static_assert(require_sim_value<Key>());
    static_assert(SimKey<Key>,
                  "a key is equal when its bytes are: use integers, handles, FixedString, not floats");
    using Table = detail::SimTableRef<Key, SimSetEntry<Key>>;

public:
    // Its entries have one field: `key`.
    using Iterator = typename Table::Iterator;

    SimSetRef(ImageHeap& heap, SimSet<Key>& stored) noexcept : table_(heap, stored) {}

    [[nodiscard]] std::uint32_t size() const noexcept { return table_.size(); }
    [[nodiscard]] bool is_empty() const noexcept { return size() == 0; }
    [[nodiscard]] Iterator begin() const noexcept { return table_.begin(); }
    [[nodiscard]] Iterator end() const noexcept { return table_.end(); }
    [[nodiscard]] bool contains(const Key& key) const noexcept { return table_.find(key) != Table::kNone; }

    // Whether it is new.
    Expected<bool> insert(const Key& key) noexcept {
        if (contains(key)) return false;
        const auto number = table_.add(key);
        if (!number) return number.status();
        return true;
    }
    // Whether it was there. The others stay where they are: safe while iterating.
    bool erase(const Key& key) noexcept { return table_.erase(key); }
    Status reserve(std::uint32_t keys) noexcept { return table_.reserve(keys); }
    // Keeps the memory.
    void clear() noexcept { table_.clear(); }
    // Gives the memory back.
    void release() noexcept { table_.release(); }

private:
    Table table_;
};

}  // namespace ouro
