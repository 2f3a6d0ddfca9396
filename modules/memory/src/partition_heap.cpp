#include "partition_heap.hpp"

#include <ouro/memory/block_registry.hpp>

namespace ouro::partition {
namespace {

static_assert(detail::UnitMap::kUnitBytes == kSpanBytes);

// At least what the heap puts behind its core.
constexpr std::size_t kOwnerBytes = 256;

// A heap lists itself under its first address; nobody else has an address of a fresh one.
std::byte* listed_begin(const SmallObjectAllocator& heap) noexcept {
    std::byte* begin = nullptr;
    visit_blocks([&](const BlockInfo& block) {
        auto* const base = reinterpret_cast<std::byte*>(block.base);
        if (heap.owns(base)) begin = base;
    });
    return begin;
}

// The lowest unit that the heap owns, found from a block of it. Leaves nothing behind but memory.
Expected<std::byte*> probed_begin(SmallObjectAllocator& heap) noexcept {
    const auto block = heap.allocate(1);
    if (!block) return block.status();
    auto unit = align_down(reinterpret_cast<std::uintptr_t>(block->data), kSpanBytes);
    while (heap.owns(reinterpret_cast<const std::byte*>(unit - kSpanBytes)))
        unit -= kSpanBytes;
    heap.deallocate(*block);
    heap.reset();
    return reinterpret_cast<std::byte*>(unit);
}

}  // namespace

std::size_t heap_region_bytes(std::size_t spans) noexcept {
    const auto layout = detail::HeapCore::layout_for(spans, alignof(detail::Slab), kOwnerBytes);
    return align_up(layout.bytes, kSpanBytes) + spans * kSpanBytes;
}

Expected<SmallObjectAllocator> make_heap(const PartitionOptions& options, std::size_t spans,
                                         MemoryBlock region) noexcept {
    if (!region.is_null()) return SmallObjectAllocator::create_in(region, options.name);
    return SmallObjectAllocator::create({.name = options.name,
                                         .tag = options.tag,
                                         .max_bytes = spans * kSpanBytes,
                                         .purge_threshold_bytes = options.keep_empty_bytes});
}

Expected<MemoryBlock> addresses_of(SmallObjectAllocator& heap) noexcept {
    const std::size_t bytes = heap.stats().reserved_bytes;
    if (std::byte* const begin = listed_begin(heap)) return MemoryBlock{begin, bytes};
    // The table of blocks is full.
    const auto begin = probed_begin(heap);
    if (!begin) return begin.status();
    return MemoryBlock{*begin, bytes};
}

}  // namespace ouro::partition
