#include "partition_heap.hpp"

namespace ouro::partition {
namespace {

static_assert(detail::UnitMap::kUnitBytes == kSpanBytes);

// At least what the heap puts behind its core.
constexpr std::size_t kOwnerBytes = 256;

}  // namespace

std::size_t heap_region_bytes(std::size_t spans) noexcept {
    const auto layout = detail::HeapCore::layout_for(spans, alignof(detail::Slab), kOwnerBytes);
    return align_up(layout.bytes, kSpanBytes) + spans * kSpanBytes;
}

Expected<SmallObjectAllocator> make_heap(const PartitionOptions& options, std::size_t spans,
                                         MemoryBlock region) noexcept {
    if (!region.is_null()) return SmallObjectAllocator::create_in(region, options.name, options.tag);
    return SmallObjectAllocator::create({.name = options.name,
                                         .tag = options.tag,
                                         .max_bytes = spans * kSpanBytes,
                                         .purge_threshold_bytes = options.keep_empty_bytes});
}

}  // namespace ouro::partition
