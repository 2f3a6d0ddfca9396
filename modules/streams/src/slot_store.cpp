#include "slot_store.hpp"

#include <cstring>
#include <utility>

namespace ouro::detail {

void SlotStore::carve(Carver& carver, std::uint32_t slots) noexcept {
    // One more, which give() may write to.
    free_ = carver.take<std::uint32_t>(std::uint64_t{slots} + 1);
    hashes_ = carver.take<std::uint64_t>(slots);
    pages_ = carver.take<std::byte>(std::uint64_t{slots} * kStatePageBytes, kStatePageBytes).data();
    // Taken from the end, and there in ascending order.
    if (free_.empty()) return;
    for (std::uint32_t index = 0; index < slots; ++index)
        free_[index] = index + 1;
    capacity_ = slots;
    free_count_ = slots;
}

// Of the last so many in the list, those that are looked at change places with others.
void SlotStore::leave_behind(std::uint32_t count) noexcept {
    const SlotReaders::LookedAt looked_at = readers_->looked_at();
    if (looked_at.is_empty()) return;
    std::uint32_t other = 0;
    for (std::uint32_t& slot : free_.subspan(free_count_ - count, count)) {
        if (!looked_at.has(slot)) continue;
        while (looked_at.has(free_[other]))
            ++other;
        OURO_ASSERT(other < free_count_ - count, "fewer are looked at than stay behind");
        std::swap(slot, free_[other++]);
    }
}

void SlotStore::give_all(std::span<const std::uint32_t> slots) noexcept {
    if (!slots.empty()) std::memcpy(&free_[free_count_], slots.data(), slots.size_bytes());
    free_count_ += static_cast<std::uint32_t>(slots.size());
}

void SlotStore::give(std::span<const std::uint32_t> slots) noexcept {
    std::uint32_t count = free_count_;
    for (const std::uint32_t slot : slots) {
        // Written in any case, and kept when it is one: without a branch.
        free_[count] = slot;
        count += slot != 0 ? 1 : 0;
    }
    free_count_ = count;
}

bool SlotStore::is_sound(std::span<std::uint8_t> seen) const noexcept {
    for (const std::uint32_t slot : free_.first(free_count_)) {
        if (slot == 0 || slot > capacity_ || seen[slot] != 0) return false;
        seen[slot] = 1;
    }
    return true;
}

}  // namespace ouro::detail
