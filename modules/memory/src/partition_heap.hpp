#pragma once

#include <ouro/memory/partition.hpp>

#include <cstddef>

// The heap that a partition for any thread is, and where it lies.
namespace ouro::partition {

// What such a heap needs of another resource's memory, bookkeeping included, from the start of a span on.
[[nodiscard]] std::size_t heap_region_bytes(std::size_t spans) noexcept;

// In the region, or on addresses of its own where that is null. Fails as SmallObjectAllocator does.
[[nodiscard]] Expected<SmallObjectAllocator> make_heap(const PartitionOptions& options, std::size_t spans,
                                                       MemoryBlock region) noexcept;

}  // namespace ouro::partition
