#include "page_copy.hpp"
#include "ring_core.hpp"
#include "version_reader.hpp"

#include <algorithm>
#include <array>

namespace ouro::detail {

bool RingCore::sees_once(std::uint32_t word, std::uint64_t& count) noexcept {
    if (word == 0) return true;
    if (is_packed(word)) return packs_ && packed_.recount(slots_, word);
    if (word > slots_.capacity() || seen_[word] != 0) return false;
    seen_[word] = 1;
    ++count;
    return true;
}

// The bytes come out, and so do those of every version that they are packed against.
bool RingCore::is_readable(std::uint32_t page, Version version) const noexcept {
    alignas(64) std::array<std::byte, kStatePageBytes> bytes;
    const auto find_base = [&](std::uint32_t tick) { return index_.find(page, tick).slot; };
    const auto belongs = [&](const PackedRecord& record, const std::byte* out) {
        return is_record_of(page, record, out);
    };
    return read_version(slots_, packed_, version.slot, bytes.data(), find_base, belongs);
}

// Of the packed versions the oldest is unpacked, and with it those that it was packed against.
bool RingCore::sees_page(std::uint32_t page, std::uint64_t& count) noexcept {
    bool is_sound = !is_packed(index_.newest_slot(page));
    bool has_unpacked = false;
    index_.visit(page, [&](Version version, std::uint32_t until) {
        is_sound = is_sound && version.tick <= log_.newest();
        if (!is_kept(version.tick, until)) return;
        is_sound = sees_once(version.slot, count) && is_sound;
        if (!is_sound || !is_packed(version.slot) || has_unpacked) return;
        has_unpacked = true;
        is_sound = is_readable(page, version);
    });
    return is_sound;
}

// Each slot is free, holds a version that can be read or records of such, or is pinned: one of them.
Status RingCore::check() noexcept {
    if (const Status status = index_.check(); status != Status::ok) return status;
    std::ranges::fill(seen_, std::uint8_t{0});
    if (!slots_.is_sound(seen_)) return Status::corrupt_data;
    std::uint64_t count = slots_.unused_count();
    bool is_sound = true;
    if (packs_) {
        packed_.begin_recount();
        for (const PackedStore::End& end : packer_.ends())
            if (end.slot != 0) packed_.recount_slot(end.slot);
        if (line_end_.slot != 0) packed_.recount_slot(line_end_.slot);
        for (const std::uint32_t slot : packer_.spare())
            is_sound = sees_once(slot, count) && is_sound;
    }
    for (std::uint32_t page = 0; page < index_.page_count(); ++page)
        is_sound = sees_page(page, count) && is_sound;
    for (const PinnedVersion& pin : pins_.first(pin_count_))
        is_sound = sees_once(pin.slot, count) && is_sound;
    futures_.visit_slots([&](std::uint32_t word) { is_sound = sees_once(word, count) && is_sound; });
    if (packs_) is_sound = packed_.end_recount(seen_, count) && is_sound;
    return is_sound && count == slots_.capacity() ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro::detail
