#include <ouro/base/hash.hpp>
#include <ouro/memory/collections/string_interner.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace ouro {

namespace {

[[nodiscard]] bool same_text(std::string_view one, std::string_view other) noexcept {
    return one.size() == other.size() &&
           (one.empty() || std::memcmp(one.data(), other.data(), one.size()) == 0);
}

}  // namespace

std::uint32_t StringInterner::hash_of(std::string_view text) noexcept {
    return static_cast<std::uint32_t>(hash_bytes(text.data(), text.size()));
}

std::size_t StringInterner::slots_for(std::size_t strings) noexcept {
    return std::max(kFirstSlots, std::bit_ceil(strings + strings / 2 + 1));
}

std::size_t StringInterner::probe(std::string_view text, std::uint32_t hash) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
        const Slot slot = slots_[at];
        if (slot.id_plus_one == 0) return at;
        if (slot.hash == hash && same_text(texts_[slot.id_plus_one - 1], text)) return at;
    }
}

Expected<StringId> StringInterner::find(std::string_view text) const noexcept {
    if (slots_.empty()) return Status::not_found;
    const Slot slot = slots_[probe(text, hash_of(text))];
    if (slot.id_plus_one == 0) return Status::not_found;
    return StringId{slot.id_plus_one - 1};
}

Expected<StringId> StringInterner::intern(std::string_view text) noexcept {
    const std::uint32_t hash = hash_of(text);
    if (!slots_.empty()) {
        const Slot slot = slots_[probe(text, hash)];
        if (slot.id_plus_one != 0) {
            ++found_;
            return StringId{slot.id_plus_one - 1};
        }
    }
    return add(text, hash);
}

// Whatever can fail comes before what others can see.
Expected<StringId> StringInterner::add(std::string_view text, std::uint32_t hash) noexcept {
    if (text.size() >= 0xFFFFFFFF) return Status::size_overflow;
    if (texts_.size() >= kMaxStrings) return Status::capacity_exhausted;
    const std::size_t needed = slots_for(texts_.size() + 1);
    if (needed > slots_.size()) {
        const Status grown = rebuild(needed);
        if (grown != Status::ok) return grown;
    }
    const Expected<std::string_view*> entry = texts_.emplace_back();
    if (!entry) return entry.status();
    const auto copy = arena_.store(text);
    if (!copy) {
        texts_.pop_back();
        return copy.status();
    }
    const std::size_t at = probe(text, hash);
    **entry = *copy;
    const auto number = static_cast<std::uint32_t>(texts_.size());
    slots_[at] = {hash, number};
    ++added_;
    return StringId{number - 1};
}

Status StringInterner::rebuild(std::size_t slot_count) noexcept {
    PooledVector<Slot> fresh(slots_.allocator());
    const Status sized = fresh.resize(slot_count);
    if (sized != Status::ok) return sized;
    const std::size_t mask = slot_count - 1;
    for (const Slot slot : slots_) {
        if (slot.id_plus_one == 0) continue;
        std::size_t at = slot.hash & mask;
        while (fresh[at].id_plus_one != 0)
            at = (at + 1) & mask;
        fresh[at] = slot;
    }
    slots_ = std::move(fresh);
    return Status::ok;
}

Status StringInterner::reserve(std::size_t strings) noexcept {
    if (strings > kMaxStrings) return Status::capacity_exhausted;
    const Status listed = texts_.reserve(strings);
    if (listed != Status::ok) return listed;
    const std::size_t needed = slots_for(strings);
    return needed > slots_.size() ? rebuild(needed) : Status::ok;
}

void StringInterner::clear() noexcept {
    texts_.clear();
    std::ranges::fill(slots_, Slot{});
    arena_.clear();
}

void StringInterner::release() noexcept {
    texts_.release();
    slots_.release();
    arena_.release();
}

std::size_t StringInterner::probe_length(std::size_t slot) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    return ((slot - slots_[slot].hash) & mask) + 1;
}

StringInterner::Stats StringInterner::stats() const noexcept {
    Stats stats{.strings = texts_.size(),
                .text_bytes = arena_.used_bytes(),
                .text_block_bytes = arena_.block_bytes(),
                .index_bytes = slots_.capacity() * sizeof(Slot) + texts_.capacity() * sizeof(texts_[0]),
                .found = found_,
                .added = added_};
    for (std::size_t at = 0; at < slots_.size(); ++at) {
        if (slots_[at].id_plus_one == 0) continue;
        stats.longest_probe = std::max(stats.longest_probe, probe_length(at));
        stats.total_probes += probe_length(at);
    }
    return stats;
}

Status StringInterner::check() const noexcept {
    std::size_t used = 0;
    for (const Slot slot : slots_) {
        if (slot.id_plus_one > texts_.size()) return Status::corrupt_data;
        used += slot.id_plus_one != 0 ? 1 : 0;
    }
    if (used != texts_.size()) return Status::corrupt_data;
    for (std::size_t index = 0; index < texts_.size(); ++index) {
        const auto found = find(texts_[index]);
        if (!found || static_cast<std::size_t>(*found) != index) return Status::corrupt_data;
    }
    return Status::ok;
}

}  // namespace ouro
