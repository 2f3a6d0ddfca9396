#include "page_copy.hpp"

#include <ouro/base/align.hpp>
#include <ouro/memory/detail/tlsf_operations.hpp>
#include <ouro/streams/image_heap.hpp>
#include <ouro/streams/mark_barrier.hpp>

#include <algorithm>
#include <cstring>

namespace ouro {

void MarkBarrier::clear(std::byte* address, std::size_t bytes) const noexcept {
    while (bytes != 0) {
        // Small blocks, most of the time.
        if (bytes < kStatePageBytes / 4) {
            declare(address, bytes);
            std::memset(address, 0, bytes);
            return;
        }
        const std::size_t to_page = padding_to(address, kStatePageBytes);
        const std::size_t piece = std::min(bytes, to_page == 0 ? kStatePageBytes : to_page);
        if (piece != kStatePageBytes || !detail::is_zero_page(address)) {
            declare(address, piece);
            std::memset(address, 0, piece);
        }
        address += piece;
        bytes -= piece;
    }
}

Expected<ImageHeap> ImageHeap::create(const StateRing& ring, std::string_view segment,
                                      const ImageHeapOptions& options) noexcept {
    const auto block = ring.segment_block(segment);
    if (!block) return block.status();
    // A damaged one is somebody's, too.
    const bool is_there =
        reinterpret_cast<const ImageHeapHeader*>(block->data)->magic == ImageHeapHeader::kMagic;
    if (is_there && !options.replaces) return Status::address_in_use;
    const std::uint64_t notes_bytes = options.notes_blocks ? notes_bytes_of(block->size) : 0;
    ImageHeap made(ring, *block, notes_bytes);
    const MarkBarrier barrier(made.marks_);
    const MemoryBlock rest = made.heap_block();
    // The smallest segment there can be holds one.
    const auto heap = TlsfHeap::create_in(barrier, rest, rest.size);
    if (!heap) return heap.status();
    barrier.clear(block->data + sizeof(ImageHeapHeader), static_cast<std::size_t>(notes_bytes));
    barrier.declare(block->data, sizeof(ImageHeapHeader));
    made.header() = {.magic = ImageHeapHeader::kMagic,
                     .version = ImageHeapHeader::kVersion,
                     .root_count = 0,
                     .segment_bytes = block->size,
                     .notes_bytes = notes_bytes,
                     .roots = {}};
    return made;
}

void ImageHeap::discard() noexcept {
    const MarkBarrier barrier(marks_);
    barrier.clear(segment_.data, front_bytes_ + TlsfHeap::control_bytes(heap_block().size));
}

Expected<ImageHeap> ImageHeap::attach(const StateRing& ring, std::string_view segment) noexcept {
    const auto block = ring.segment_block(segment);
    if (!block) return block.status();
    const ImageHeap found = seen_in(ring, *block);
    if (const Status status = found.check(); status != Status::ok) return status;
    return found;
}

Expected<MemoryBlock> ImageHeap::allocate_unclear(std::size_t size, std::size_t alignment) noexcept {
    if (alignment > kMaxAlignment) return Status::bad_alignment;
    const auto block = heap().allocate(MarkBarrier(marks_), size, alignment);
    if (block && has_notes()) note_block(block->data, true);
    return block;
}

Expected<MemoryBlock> ImageHeap::allocate(std::size_t size, std::size_t alignment) noexcept {
    const auto block = allocate_unclear(size, alignment);
    if (block) MarkBarrier(marks_).clear(block->data, block->size);
    return block;
}

void ImageHeap::deallocate(MemoryBlock block) noexcept {
    if (has_notes() && !block.is_null()) note_block(block.data, false);
    heap().deallocate(MarkBarrier(marks_), block);
}

Expected<MemoryBlock> ImageHeap::reallocate_unclear(MemoryBlock block, std::size_t new_size,
                                                    std::size_t alignment) noexcept {
    if (alignment > kMaxAlignment) return Status::bad_alignment;
    const auto moved = heap().reallocate(MarkBarrier(marks_), block, new_size, alignment);
    if (!moved || !has_notes() || moved->data == block.data) return moved;
    if (!block.is_null()) note_block(block.data, false);
    note_block(moved->data, true);
    return moved;
}

Expected<MemoryBlock> ImageHeap::reallocate(MemoryBlock block, std::size_t new_size,
                                            std::size_t alignment) noexcept {
    const auto moved = reallocate_unclear(block, new_size, alignment);
    if (moved && moved->size > block.size)
        MarkBarrier(marks_).clear(moved->data + block.size, moved->size - block.size);
    return moved;
}

ImageHeapHeader::Root* ImageHeap::find_root(std::string_view name) const noexcept {
    for (ImageHeapHeader::Root& root : header().roots)
        if (root.offset != 0 && root.name == name) return &root;
    return nullptr;
}

Expected<std::uint32_t> ImageHeap::make_root_bytes(std::string_view name, std::size_t bytes,
                                                   std::size_t alignment) noexcept {
    const auto kept_name = FixedString<23>::from(name);
    if (!kept_name || name.empty() || find_root(name) != nullptr) return Status::bad_argument;
    const auto free_root =
        std::ranges::find_if(header().roots, [](const auto& root) { return root.offset == 0; });
    if (free_root == header().roots.end()) return Status::capacity_exhausted;
    const auto block = allocate(bytes, alignment);
    if (!block) return block.status();
    edit(*free_root) = {
        .name = *kept_name, .offset = offset_of(block->data), .bytes = static_cast<std::uint32_t>(bytes)};
    ++edit(header().root_count);
    return free_root->offset;
}

Expected<std::uint32_t> ImageHeap::root_bytes(std::string_view name, std::size_t bytes,
                                              std::size_t alignment) const noexcept {
    const ImageHeapHeader::Root* found = find_root(name);
    if (found == nullptr) return Status::not_found;
    if (found->bytes != bytes || found->offset % alignment != 0) return Status::bad_argument;
    return found->offset;
}

Expected<void> ImageHeap::remove_root(std::string_view name) noexcept {
    ImageHeapHeader::Root* found = find_root(name);
    if (found == nullptr) return Status::not_found;
    deallocate(block_of(*found));
    edit(*found) = {};
    --edit(header().root_count);
    return {};
}

bool ImageHeap::can_have(std::uint32_t offset, std::uint64_t bytes) const noexcept {
    const std::uint64_t front = offset_of(heap_block().data);
    const std::uint64_t first = front + TlsfHeap::control_bytes(heap_block().size);
    const std::uint64_t end = front + heap().usable_bytes();
    return offset % kUnit == 0 && offset >= first && offset < end && bytes != 0 && bytes <= end - offset;
}

ImageHeap::Stats ImageHeap::stats() const noexcept {
    return {.heap = heap().stats(),
            .free_bytes = heap().free_bytes(),
            .control_bytes = front_bytes_ + TlsfHeap::control_bytes(heap_block().size),
            .roots = header().root_count};
}

bool ImageHeap::has_sound_header() const noexcept {
    const ImageHeapHeader& head = header();
    if (head.magic != ImageHeapHeader::kMagic || head.version != ImageHeapHeader::kVersion ||
        head.segment_bytes != segment_.size ||
        (head.notes_bytes != 0 && head.notes_bytes != notes_bytes_of(segment_.size)))
        return false;
    std::uint32_t roots = 0;
    for (const ImageHeapHeader::Root& root : head.roots) {
        if (root.offset == 0) {
            if (root.bytes != 0 || !root.name.is_empty()) return false;
            continue;
        }
        ++roots;
        if (root.name.is_empty() || find_root(root.name) != &root || !base_.covers(root.offset, root.bytes))
            return false;
    }
    return roots == head.root_count;
}

// Requires: a sound header, and a sound heap behind it.
bool ImageHeap::has_sound_roots() const noexcept {
    for (const ImageHeapHeader::Root& root : header().roots) {
        if (root.offset == 0) continue;
        const bool is_shared = std::ranges::any_of(header().roots, [&](const ImageHeapHeader::Root& other) {
            return &other != &root && block_of(other).overlaps(block_of(root));
        });
        if (is_shared || root.offset % kUnit != 0 || !heap().is_in_use(block_of(root))) return false;
    }
    return true;
}

Status ImageHeap::check() const noexcept {
    if (!has_sound_header()) return Status::corrupt_data;
    const MemoryBlock rest = heap_block();
    if (const Status status = TlsfHeap::check(rest); status != Status::ok) return status;
    if (heap().image_bytes() != rest.size || !has_sound_roots()) return Status::corrupt_data;
    return are_notes_sound() ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro
