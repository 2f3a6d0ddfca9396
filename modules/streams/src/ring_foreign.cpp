// What a ring does for code that was not written for it.
#include "ring_core.hpp"

namespace ouro::detail {

Status RingCore::keep_outside(std::string_view segment, MemoryBlock outside, std::string_view name) noexcept {
    return outside_.add(image_, segment, outside, name, newest() + 1);
}

Status RingCore::mask(const void* address, std::size_t bytes) noexcept {
    const MemoryBlock block{static_cast<std::byte*>(const_cast<void*>(address)), bytes};
    if (bytes == 0) return Status::zero_size;
    if (!image_.block().contains(block)) return Status::out_of_range;
    const HashMasks::Mask mask{.offset = offset_of(address), .bytes = bytes, .since = newest() + 1};
    if (const Status status = masks_.add(mask); status != Status::ok) return status;
    HashMasks::visit_pages(mask, [&](std::uint32_t page) { marks_.mark_page(page); });
    return Status::ok;
}

Status RingCore::unmask(const void* address, std::size_t bytes) noexcept {
    if (!image_.block().contains(address)) return Status::not_found;
    const std::uint64_t offset = offset_of(address);
    if (const Status status = masks_.remove(offset, bytes, newest() + 1); status != Status::ok) return status;
    HashMasks::visit_pages({.offset = offset, .bytes = bytes},
                           [&](std::uint32_t page) { marks_.mark_page(page); });
    return Status::ok;
}

// A page that was captured with other masks than those of now is captured again, so that the hash of the next
// tick follows from its bytes and the masks, as that of the ticks did that are gone.
void RingCore::follow_back(std::uint32_t tick) noexcept {
    masks_.renew_behind(tick, [&](std::uint32_t page) { marks_.mark_page(page); });
    outside_.load(image_, tick);
}

}  // namespace ouro::detail
