#pragma once

#include <ouro/base/memory_block.hpp>
#include <ouro/memory/tag.hpp>

// Where allocations meet the profiler. Each thread samples each tag's bytes by themselves: the allocation
// that takes them beyond the cell's sample_at is due. The few that are do slow work here.
namespace ouro::detail {

// Records the block when the profiler runs; true when its end must be told.
[[gnu::cold, gnu::noinline]] bool sample_allocation(MemoryBlock block, Tag tag) noexcept;
[[gnu::cold, gnu::noinline]] void forget_sample(const void* block) noexcept;
[[gnu::cold, gnu::noinline]] void move_sample(const void* old_block, MemoryBlock block) noexcept;

}  // namespace ouro::detail
