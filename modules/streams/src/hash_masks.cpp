#include "hash_masks.hpp"

#include <algorithm>
#include <cstring>

namespace ouro::detail {

std::size_t HashMasks::first_behind(std::uint64_t offset) const noexcept {
    const std::span masks = std::span(masks_).first(count_);
    const auto found = std::ranges::upper_bound(masks, offset, {}, &Mask::end);
    return static_cast<std::size_t>(found - masks.begin());
}

Status HashMasks::add(const Mask& mask) noexcept {
    const std::size_t at = first_behind(mask.offset);
    if (at < count_ && masks_[at].offset < mask.end()) return Status::address_in_use;
    if (count_ == kMaxMasks) return Status::capacity_exhausted;
    std::copy_backward(masks_.begin() + static_cast<std::ptrdiff_t>(at),
                       masks_.begin() + static_cast<std::ptrdiff_t>(count_),
                       masks_.begin() + static_cast<std::ptrdiff_t>(count_ + 1));
    masks_[at] = mask;
    ++count_;
    was_used_.store(true, std::memory_order_relaxed);
    return Status::ok;
}

Status HashMasks::remove(std::uint64_t offset, std::uint64_t bytes, std::uint32_t since) noexcept {
    const std::size_t at = first_behind(offset);
    if (at == count_ || masks_[at].offset != offset || masks_[at].bytes != bytes) return Status::not_found;
    std::copy(masks_.begin() + static_cast<std::ptrdiff_t>(at + 1),
              masks_.begin() + static_cast<std::ptrdiff_t>(count_),
              masks_.begin() + static_cast<std::ptrdiff_t>(at));
    --count_;
    note_removed({.offset = offset, .bytes = bytes, .since = since});
    return Status::ok;
}

void HashMasks::note_removed(const Mask& mask) noexcept {
    const std::span removed = std::span(removed_).first(removed_count_);
    const auto same = std::ranges::find_if(
        removed, [&](const Mask& each) { return each.offset == mask.offset && each.bytes == mask.bytes; });
    if (same != removed.end()) {
        same->since = mask.since;
    } else if (removed_count_ < kMaxMasks) {
        removed_[removed_count_++] = mask;
    } else {
        Mask& last = removed_[kMaxMasks - 1];
        const std::uint64_t begin = std::min(last.offset, mask.offset);
        last = {.offset = begin,
                .bytes = std::max(last.end(), mask.end()) - begin,
                .since = std::max(last.since, mask.since)};
    }
}

bool HashMasks::covers(std::uint64_t offset) const noexcept {
    const std::size_t at = first_behind(offset);
    return at < count_ && masks_[at].offset <= offset;
}

std::uint64_t HashMasks::hash_around(const std::byte* page, std::uint32_t number) const noexcept {
    const std::uint64_t begin = std::uint64_t{number} << kStatePageShift;
    const std::uint64_t end = begin + kStatePageBytes;
    std::size_t at = first_behind(begin);
    if (at == count_ || masks_[at].offset >= end) return hash_page(page, number);
    alignas(64) std::array<std::byte, kStatePageBytes> rest;
    std::memcpy(rest.data(), page, rest.size());
    for (; at < count_ && masks_[at].offset < end; ++at) {
        const std::uint64_t first = std::max(begin, masks_[at].offset);
        const std::uint64_t last = std::min(end, masks_[at].end());
        std::memset(rest.data() + static_cast<std::size_t>(first - begin), 0,
                    static_cast<std::size_t>(last - first));
    }
    return hash_page(rest.data(), number);
}

}  // namespace ouro::detail
