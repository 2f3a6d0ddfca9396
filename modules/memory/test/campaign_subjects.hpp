#pragma once

#include "composition.hpp"

#include <ouro/memory/partition.hpp>

#include <cstddef>

// Parts that take more than a line to build: among them those that are no resource themselves, and special
// ways to build others, which only campaigns drive.
namespace ouro::testing_support {

inline constexpr std::size_t kPoolBlockBytes = 256;
inline constexpr std::size_t kPoolAlignment = 64;

// A Pool of objects as large as a pool's blocks, whose handles are asked at each call.
[[nodiscard]] PartPointer build_object_pool(const Site& site);
// A pool for one thread only.
[[nodiscard]] PartPointer build_local_pool(const Site& site);
// A TlsfHeap itself, in an image that grows and shrinks.
[[nodiscard]] PartPointer build_tlsf_heap(const Site& site);
// A TlsfAllocator that asks its upstream again and again.
[[nodiscard]] PartPointer build_tlsf_growing(const Site& site);
// A TlsfAllocator in several regions of the caller, which come and go.
[[nodiscard]] PartPointer build_tlsf_regions(const Site& site);
[[nodiscard]] PartPointer build_capacity_pool(const Site& site);
// The second of two partitions; the set lives as long as the part.
[[nodiscard]] PartPointer build_partition_with(const Site& site, ThreadSafety threads,
                                               PartitionGuards guards);

template <ThreadSafety kThreads, PartitionGuards kGuards = PartitionGuards::none>
[[nodiscard]] PartPointer build_partition(const Site& site) {
    return build_partition_with(site, kThreads, kGuards);
}

}  // namespace ouro::testing_support
