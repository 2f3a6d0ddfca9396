#pragma once

#include "carver.hpp"
#include "slot_readers.hpp"

#include <ouro/base/assert.hpp>
#include <ouro/streams/state_page.hpp>

#include <cstdint>
#include <span>

namespace ouro::detail {

// The memory of all versions: pages in numbered slots, and what each adds to the hash of the state. Slot zero
// is never handed out; it stands for a page of zeros.
class SlotStore {
public:
    void carve(Carver& carver, std::uint32_t slots) noexcept;

    // Slots that these look at are not handed out, though they may be free: so many stay behind.
    void spare(const SlotReaders& readers) noexcept {
        OURO_ASSERT(free_count_ >= SlotReaders::kMost, "there are slots to stay behind");
        readers_ = &readers;
        spared_ = SlotReaders::kMost;
    }

    [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }
    // How many can be taken.
    [[nodiscard]] std::uint32_t free_count() const noexcept { return free_count_ - spared_; }
    // With those that stay behind.
    [[nodiscard]] std::uint32_t unused_count() const noexcept { return free_count_; }

    // Takes slots off the end of the list of free ones; they are listed in the result until the next call
    // that changes the store. Requires: so many are free.
    [[nodiscard]] std::span<const std::uint32_t> take(std::uint32_t count) noexcept {
        OURO_ASSERT(count <= free_count(), "there are not so many free slots");
        if (readers_ != nullptr) leave_behind(count);
        free_count_ -= count;
        if (free_count_ < untouched_) list_from(free_count_);
        return free_.subspan(free_count_, count);
    }
    // Requires: none of them is zero.
    void give_all(std::span<const std::uint32_t> slots) noexcept;
    // Zeros among them are left out.
    void give(std::span<const std::uint32_t> slots) noexcept;
    void give(std::uint32_t slot) noexcept { give({&slot, 1}); }

    // Requires: slot is not zero.
    [[nodiscard]] std::byte* page(std::uint32_t slot) const noexcept {
        return pages_ + (std::size_t{slot} - 1) * kStatePageBytes;
    }
    [[nodiscard]] std::uint64_t hash(std::uint32_t slot) const noexcept {
        return slot == 0 ? 0 : hashes_[slot - 1];
    }
    void prefetch_hash(std::uint32_t slot) const noexcept {
        if (slot != 0) __builtin_prefetch(&hashes_[slot - 1], 1);
    }
    void set_hash(std::uint32_t slot, std::uint64_t hash) noexcept { hashes_[slot - 1] = hash; }

    // For check(): each slot is listed as free at most once.
    [[nodiscard]] bool is_sound(std::span<std::uint8_t> seen) const noexcept;

private:
    void leave_behind(std::uint32_t count) noexcept;
    // Slots that were never taken are in the list as zeros, and are those of their places.
    [[nodiscard]] std::uint32_t free_slot(std::uint32_t at) const noexcept {
        return free_[at] != 0 ? free_[at] : at + 1;
    }
    void list_from(std::uint32_t begin) noexcept;

    std::byte* pages_ = nullptr;
    std::span<std::uint32_t> free_;
    std::span<std::uint64_t> hashes_;
    std::uint32_t capacity_ = 0;
    std::uint32_t free_count_ = 0;
    std::uint32_t spared_ = 0;
    // Before this place there can be zeros.
    std::uint32_t untouched_ = 0;
    const SlotReaders* readers_ = nullptr;
};

}  // namespace ouro::detail
