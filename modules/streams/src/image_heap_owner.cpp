// Who has a byte of a heap in the image.
#include "owner_text.hpp"

#include <ouro/base/bits.hpp>
#include <ouro/streams/image_heap.hpp>

#include <algorithm>
#include <bit>

namespace ouro {

// A handle to whatever lies there; check() says whether it is a heap.
ImageHeap ImageHeap::seen_in(const StateRing& ring, MemoryBlock segment) noexcept {
    const std::uint64_t told = reinterpret_cast<const ImageHeapHeader*>(segment.data)->notes_bytes;
    return {ring, segment, told == notes_bytes_of(segment.size) ? told : 0};
}

void ImageHeap::note_block(const std::byte* begin, bool is_there) noexcept {
    const std::size_t unit = static_cast<std::size_t>(begin - segment_.data) / kUnit;
    const std::uint64_t bit = std::uint64_t{1} << (unit % 64);
    std::uint64_t& word = edit(notes()[unit / 64]);
    OURO_DEBUG_ASSERT(((word & bit) != 0) != is_there, "a block begins where one is, or ends where none is");
    word = is_there ? word | bit : word & ~bit;
}

// The last block that begins at or before the address; null when none does in this range, which has no free
// memory.
MemoryBlock ImageHeap::noted_block(const std::byte* address, MemoryBlock within) const noexcept {
    const auto unit_of = [&](const std::byte* at) {
        return static_cast<std::size_t>(at - segment_.data) / kUnit;
    };
    const std::size_t unit = unit_of(address);
    const std::size_t end = unit_of(within.end());
    std::size_t begin = end;
    std::size_t next = find_set_bit(notes(), unit_of(within.data));
    for (; next <= unit; next = find_set_bit(notes(), next + 1))
        begin = next;
    if (begin == end) return {};
    return segment_.sub(begin * kUnit, (std::min(next, end) - begin) * kUnit);
}

bool ImageHeap::are_notes_sound() const noexcept {
    if (!has_notes()) return true;
    std::uint64_t noted = 0;
    for (const std::uint64_t word : notes())
        noted += static_cast<std::uint64_t>(std::popcount(word));
    return noted == heap().stats().live_blocks;
}

const ImageHeapHeader::Root* ImageHeap::root_at(std::uint64_t offset) const noexcept {
    for (const ImageHeapHeader::Root& root : header().roots)
        if (root.offset != 0 && offset - root.offset < root.bytes) return &root;
    return nullptr;
}

ImageOwner ImageHeap::owner_at(const StateRing& ring, std::string_view segment,
                               std::uint64_t offset) noexcept {
    const auto block = ring.segment_block(segment);
    if (!block) return {};
    const ImageHeap heap = seen_in(ring, *block);
    if (!heap.has_sound_header()) return {};
    const std::byte* const image = ring.image().data;
    const std::byte* const address = image + static_cast<std::size_t>(offset);
    const MemoryBlock front = block->sub(0, heap.front_bytes_);
    if (front.contains(address)) return detail::owner_of_place({TlsfHeap::PlaceKind::control, front}, image);
    const auto place = TlsfHeap::find_place(heap.heap_block(), address);
    if (!place) return {};
    ImageOwner owner = detail::owner_of_place(*place, image);
    if (place->kind != TlsfHeap::PlaceKind::blocks) return owner;
    if (const ImageHeapHeader::Root* root = heap.root_at(offset); root != nullptr)
        return {.kind = OwnerKind::root,
                .name = ImageOwner::name_of(root->name.view()),
                .offset = root->offset,
                .bytes = root->bytes};
    if (!heap.has_notes()) return owner;
    const MemoryBlock noted = heap.noted_block(address, place->range);
    if (noted.is_null()) return owner;
    owner.kind = OwnerKind::heap_block;
    owner.offset = static_cast<std::uint64_t>(noted.data - image);
    owner.bytes = noted.size;
    return owner;
}

}  // namespace ouro
