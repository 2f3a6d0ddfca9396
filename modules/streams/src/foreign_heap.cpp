#include <ouro/base/align.hpp>
#include <ouro/streams/foreign_heap.hpp>

#include <algorithm>
#include <cstring>

namespace ouro {
namespace {

// Before each block that is freed without its size. As large as the smallest alignment.
struct alignas(16) Header {
    std::uint64_t bytes;
    // From where the heap's own block begins.
    std::uint64_t lead;
};

Header* header_of(void* block) noexcept {
    return reinterpret_cast<Header*>(block) - 1;
}
const Header* header_of(const void* block) noexcept {
    return reinterpret_cast<const Header*>(block) - 1;
}

void* put_header(MemoryBlock whole, std::size_t bytes, std::size_t lead) noexcept {
    std::byte* block = whole.data + lead;
    *header_of(block) = {.bytes = bytes, .lead = lead};
    return block;
}

const Segment* find_segment(const StateRing& ring, std::string_view name) noexcept {
    for (const Segment& segment : ring.segments())
        if (segment.name() == name) return &segment;
    return nullptr;
}

}  // namespace

Expected<ForeignHeap> ForeignHeap::create(StateRing& ring, std::string_view segment) noexcept {
    const Segment* found = find_segment(ring, segment);
    if (found == nullptr) return Status::not_found;
    if (found->kind != SegmentKind::process_bound || found->tracking == Tracking::declared)
        return Status::bad_argument;
    if (ring.newest() != 0) return Status::busy;
    const MemoryBlock memory = *ring.segment_block(segment);
    const auto heap = TlsfHeap::create_in(memory);
    if (!heap) return heap.status();
    return ForeignHeap(*heap, memory);
}

void* ForeignHeap::allocate_unsized(std::size_t bytes, std::size_t alignment) noexcept {
    if (!is_alignment(alignment)) return fail_unsized();
    const std::size_t lead = std::max(alignment, sizeof(Header));
    if (bytes > SIZE_MAX - lead) return fail_unsized();
    const auto whole = heap_->allocate(bytes + lead, alignment);
    return whole ? put_header(*whole, bytes, lead) : fail_unsized();
}

void* ForeignHeap::fail_unsized() noexcept {
    ++failures_;
    return nullptr;
}

void* ForeignHeap::resize_unsized(void* block, std::size_t bytes) noexcept {
    if (block == nullptr) return bytes == 0 ? nullptr : allocate_unsized(bytes);
    if (bytes == 0) {
        free_unsized(block);
        return nullptr;
    }
    const Header before = *header_of(block);
    if (bytes > SIZE_MAX - sizeof(Header)) return fail_unsized();
    if (before.lead == sizeof(Header)) {
        std::byte* begin = static_cast<std::byte*>(block) - sizeof(Header);
        const auto whole = heap_->reallocate({begin, static_cast<std::size_t>(before.bytes) + sizeof(Header)},
                                             bytes + sizeof(Header));
        return whole ? put_header(*whole, bytes, sizeof(Header)) : fail_unsized();
    }
    void* moved = allocate_unsized(bytes);
    if (moved == nullptr) return nullptr;
    std::memcpy(moved, block, std::min(bytes, static_cast<std::size_t>(before.bytes)));
    free_unsized(block);
    return moved;
}

void ForeignHeap::free_unsized(void* block) noexcept {
    if (block == nullptr) return;
    const Header header = *header_of(block);
    const auto lead = static_cast<std::size_t>(header.lead);
    heap_->deallocate({static_cast<std::byte*>(block) - lead, static_cast<std::size_t>(header.bytes) + lead});
}

std::size_t ForeignHeap::size_unsized(const void* block) noexcept {
    return static_cast<std::size_t>(header_of(block)->bytes);
}

ResourceStats ForeignHeap::stats() const noexcept {
    const TlsfHeap::Stats own = heap_->stats();
    return {.live_bytes = static_cast<std::size_t>(own.live_bytes),
            .peak_bytes = static_cast<std::size_t>(own.peak_bytes),
            .live_blocks = static_cast<std::size_t>(own.live_blocks),
            .reserved_bytes = memory_.size,
            .committed_bytes = memory_.size,
            .allocations = own.allocations,
            .failures = failures_};
}

}  // namespace ouro
