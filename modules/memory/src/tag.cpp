#include "fork_safety.hpp"

#include <ouro/base/hash.hpp>
#include <ouro/memory/detail/tag_table.hpp>
#include <ouro/memory/detail/word_lock.hpp>
#include <ouro/memory/tag.hpp>

#include <array>
#include <atomic>
#include <cstring>

namespace ouro {
namespace {

using Entry = detail::TagTableEntry;

// Entries are written once, before the index that leads to them is published, and never change.
struct TagTable {
    detail::TagTableHead head;
    std::array<Entry, kMaxTags> entries;
    // Open addressing by the hash of the name; 0 is a free place. Twice the entries, so that searches are
    // short and always end.
    std::array<std::atomic<std::uint16_t>, 2 * kMaxTags> places;
    detail::WordLock adding;
};

constinit TagTable table{};

constexpr std::string_view kUntagged = "untagged";

std::string_view name_in(const Entry& entry) noexcept {
    return {entry.name.data(), entry.name_bytes};
}

// Where the name stands, or the free place where it would.
std::atomic<std::uint16_t>& place_of(std::string_view name) noexcept {
    std::size_t at = static_cast<std::size_t>(hash_name(name)) % table.places.size();
    for (;; at = (at + 1) % table.places.size()) {
        const std::uint16_t id = table.places[at].load(std::memory_order_acquire);
        if (id == 0 || name_in(table.entries[id]) == name) return table.places[at];
    }
}

bool is_registered(Tag tag) noexcept {
    return tag.id() < tag_count();
}

}  // namespace

void detail::hold_tags_for_fork() noexcept {
    table.adding.lock();
}
void detail::resume_tags() noexcept {
    table.adding.unlock();
}

std::span<const std::byte> detail::tag_table_bytes() noexcept {
    static_assert(offsetof(TagTable, entries) == sizeof(TagTableHead));
    return {reinterpret_cast<const std::byte*>(&table), sizeof(TagTableHead) + tag_count() * sizeof(Entry)};
}

Expected<Tag> register_tag(std::string_view name, Tag parent) noexcept {
    if (name.empty() || name.size() > kMaxTagNameBytes || !is_registered(parent)) return Status::bad_argument;
    if (name == kUntagged) return Status::bad_argument;
    // Without it, tags are the same.
    static_cast<void>(detail::watch_forks());
    const detail::WordLockScope adding(table.adding);
    auto& place = place_of(name);
    if (const std::uint16_t known = place.load(std::memory_order_relaxed); known != 0) {
        if (table.entries[known].parent != parent.id()) return Status::bad_argument;
        return Tag::from_id(known);
    }
    const std::size_t count = tag_count();
    if (count == kMaxTags) return Status::capacity_exhausted;
    Entry& entry = table.entries[count];
    std::memcpy(entry.name.data(), name.data(), name.size());
    entry.name_bytes = static_cast<std::uint8_t>(name.size());
    entry.parent = parent.id();
    const auto id = static_cast<std::uint16_t>(count);
    if (id == 1) {
        table.head.entry_bytes = sizeof(Entry);
        table.head.magic = detail::kTagTableMagic;
    }
    table.head.registered.store(id, std::memory_order_release);
    place.store(id, std::memory_order_release);
    return Tag::from_id(id);
}

Expected<Tag> find_tag(std::string_view name) noexcept {
    const std::uint16_t id = place_of(name).load(std::memory_order_acquire);
    if (id == 0) return Status::not_found;
    return Tag::from_id(id);
}

Tag tag_or(Tag tag, std::string_view name) noexcept {
    if (!tag.is_untagged()) return tag;
    if (const auto known = find_tag(name)) return *known;
    const auto made = register_tag(name);
    return made ? *made : Tag{};
}

std::size_t tag_count() noexcept {
    return table.head.registered.load(std::memory_order_acquire) + std::size_t{1};
}

std::string_view tag_name(Tag tag) noexcept {
    if (tag.is_untagged() || !is_registered(tag)) return kUntagged;
    return name_in(table.entries[tag.id()]);
}

Tag tag_parent(Tag tag) noexcept {
    if (!is_registered(tag)) return {};
    return Tag::from_id(table.entries[tag.id()].parent);
}

bool is_tag_within(Tag tag, Tag ancestor) noexcept {
    while (tag != ancestor && !tag.is_untagged())
        tag = tag_parent(tag);
    return tag == ancestor;
}

}  // namespace ouro
