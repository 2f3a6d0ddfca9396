#include "outside_ranges.hpp"

#include <algorithm>
#include <cstring>

namespace ouro::detail {
namespace {

// Of copies, so that two do not share a cache line.
constexpr std::uint64_t kCopyAlignment = 64;

// Calls with parts whose copies lie in one page of the image each, and where in the image those are.
template <class Visit>
void visit_parts(MemoryBlock outside, std::uint64_t offset, Visit&& visit) noexcept {
    std::size_t done = 0;
    while (done < outside.size) {
        const std::size_t place = static_cast<std::size_t>(offset) + done;
        const std::size_t part = std::min(outside.size - done, kStatePageBytes - place % kStatePageBytes);
        visit(outside.data + done, place, part);
        done += part;
    }
}

}  // namespace

bool OutsideRanges::is_free(std::uint64_t offset, std::size_t bytes) const noexcept {
    return std::ranges::none_of(ranges(), [&](const Range& range) {
        return offset < range.offset + range.outside.size && range.offset < offset + bytes;
    });
}

Expected<std::uint64_t> OutsideRanges::find_room(const Segment& segment, std::size_t bytes) const noexcept {
    const auto fits = [&](std::uint64_t offset) {
        const bool is_within = offset >= segment.offset && offset - segment.offset <= segment.bytes &&
                               bytes <= segment.bytes - (offset - segment.offset);
        return is_within && is_free(offset, bytes);
    };
    if (fits(segment.offset)) return segment.offset;
    for (const Range& range : ranges()) {
        const std::uint64_t end = range.offset + range.outside.size;
        const std::uint64_t behind = (end + kCopyAlignment - 1) / kCopyAlignment * kCopyAlignment;
        if (fits(behind)) return behind;
    }
    return Status::not_found;
}

Status OutsideRanges::add(const LiveImage& image, std::string_view segment, MemoryBlock outside,
                          std::string_view name, std::uint32_t since) noexcept {
    if (outside.is_null()) return Status::bad_address;
    if (outside.size == 0) return Status::zero_size;
    if (outside.size > UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(outside.data))
        return Status::size_overflow;
    if (image.block().overlaps(outside) || image.alias().overlaps(outside)) return Status::bad_address;
    const bool is_kept =
        std::ranges::any_of(ranges(), [&](const Range& range) { return range.outside.overlaps(outside); });
    if (is_kept) return Status::address_in_use;
    const auto found = image.segment(segment);
    if (!found) return found.status();
    if (found->kind != SegmentKind::process_bound) return Status::bad_argument;
    const auto offset = find_room(*found, outside.size);
    if (!offset || count_ == kMaxRanges) return Status::capacity_exhausted;
    ranges_[count_++] = {
        .outside = outside, .offset = *offset, .since = since, .name = ImageOwner::name_of(name)};
    return Status::ok;
}

Status OutsideRanges::remove(MemoryBlock outside) noexcept {
    const auto found = std::ranges::find(ranges(), outside, &Range::outside);
    if (found == ranges().end()) return Status::not_found;
    *found = ranges_[--count_];
    return Status::ok;
}

Expected<std::uint64_t> OutsideRanges::offset_of(const void* outside) const noexcept {
    for (const Range& range : ranges()) {
        if (!range.outside.contains(outside)) continue;
        const auto within = static_cast<const std::byte*>(outside) - range.outside.data;
        return range.offset + static_cast<std::uint64_t>(within);
    }
    return Status::not_found;
}

Expected<ImageOwner> OutsideRanges::owner_at(std::uint64_t offset) const noexcept {
    for (const Range& range : ranges()) {
        if (offset - range.offset >= range.outside.size) continue;
        return ImageOwner{.kind = OwnerKind::outside,
                          .name = range.name,
                          .offset = range.offset,
                          .bytes = range.outside.size,
                          .address = range.outside.data};
    }
    return Status::not_found;
}

// Through the second mapping, where no tracker has to let anybody write.
void OutsideRanges::save(const LiveImage& image, DirtyMap& marks) noexcept {
    for (const Range& range : ranges()) {
        visit_parts(range.outside, range.offset,
                    [&](const std::byte* outside, std::size_t place, std::size_t bytes) {
                        const std::byte* const copy = image.block().data + place;
                        if (std::memcmp(copy, outside, bytes) == 0) return;
                        (void)marks.mark(copy, bytes);
                        std::memcpy(image.alias().data + place, outside, bytes);
                    });
    }
}

void OutsideRanges::load(const LiveImage& image, std::uint32_t tick) noexcept {
    for (Range& range : ranges()) {
        if (range.since > tick) {
            range.since = tick + 1;
            continue;
        }
        visit_parts(range.outside, range.offset,
                    [&](std::byte* outside, std::size_t place, std::size_t bytes) {
                        const std::byte* const copy = image.block().data + place;
                        if (std::memcmp(copy, outside, bytes) != 0) std::memcpy(outside, copy, bytes);
                    });
    }
}

}  // namespace ouro::detail
