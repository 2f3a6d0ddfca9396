#include "slot_store.hpp"

#include <cstring>

namespace ouro::detail {

void SlotStore::carve(Carver& carver, std::uint32_t slots) noexcept {
    // One more, which give() may write to.
    free_ = carver.take<std::uint32_t>(std::uint64_t{slots} + 1);
    hashes_ = carver.take<std::uint64_t>(slots);
    pages_ = carver.take<std::byte>(std::uint64_t{slots} * kStatePageBytes, kStatePageBytes).data();
    // Taken from the end, and there in ascending order.
    if (free_.empty()) return;
    capacity_ = slots;
    free_count_ = slots;
    untouched_ = slots;
}

void SlotStore::list_from(std::uint32_t begin) noexcept {
    for (std::uint32_t at = begin; at < untouched_; ++at)
        free_[at] = free_slot(at);
    untouched_ = begin;
}

// Of the last so many in the list, those that are looked at change places with others.
void SlotStore::leave_behind(std::uint32_t count) noexcept {
    const SlotReaders::LookedAt looked_at = readers_->looked_at();
    if (looked_at.is_empty()) return;
    std::uint32_t other = 0;
    for (std::uint32_t at = free_count_ - count; at < free_count_; ++at) {
        const std::uint32_t slot = free_slot(at);
        if (!looked_at.has(slot)) continue;
        while (looked_at.has(free_slot(other)))
            ++other;
        OURO_ASSERT(other < free_count_ - count, "fewer are looked at than stay behind");
        free_[at] = free_slot(other);
        free_[other++] = slot;
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
    for (std::uint32_t at = 0; at < free_count_; ++at) {
        const std::uint32_t slot = free_slot(at);
        if (slot > capacity_ || seen[slot] != 0) return false;
        seen[slot] = 1;
    }
    return true;
}

}  // namespace ouro::detail
