#include "ring_core.hpp"

#include <algorithm>

namespace ouro::detail {

bool RingCore::sees_once(std::uint32_t slot, std::uint64_t& count) const noexcept {
    if (slot == 0) return true;
    if (slot > slots_.capacity() || seen_[slot] != 0) return false;
    seen_[slot] = 1;
    ++count;
    return true;
}

// Each slot is free, holds a version that can be read, or is pinned: one of the three.
Status RingCore::check() const noexcept {
    if (const Status status = index_.check(); status != Status::ok) return status;
    std::ranges::fill(seen_, std::uint8_t{0});
    if (!slots_.is_sound(seen_)) return Status::corrupt_data;
    std::uint64_t count = slots_.free_count();
    bool is_sound = true;
    for (std::uint32_t page = 0; page < index_.page_count(); ++page) {
        index_.visit(page, [&](Version version, std::uint32_t until) {
            const bool is_kept = until == 0 || until > log_.oldest();
            if (is_kept) is_sound = sees_once(version.slot, count) && is_sound;
            is_sound = is_sound && version.tick <= log_.newest();
        });
    }
    for (const Pin& pin : pins_.first(pin_count_))
        is_sound = sees_once(pin.slot, count) && is_sound;
    futures_.visit_slots([&](std::uint32_t slot) { is_sound = sees_once(slot, count) && is_sound; });
    return is_sound && count == slots_.capacity() ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro::detail
