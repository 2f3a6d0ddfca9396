#pragma once

#include <ouro/base/memory_block.hpp>
#include <ouro/observe/detail/block_trailer.hpp>
#include <ouro/observe/detail/ledger_paths.hpp>

#include <cstddef>
#include <cstdint>

// Where allocations meet the profiler: a countdown of bytes a thread, and slow work for the few that are
// sampled.
namespace ouro::detail {

// True when this allocation ends the thread's countdown. Never without a shard.
[[nodiscard]] inline bool is_sample_due(std::size_t bytes) noexcept {
    LedgerShard* const shard = t_shard;
    if (shard == nullptr) [[unlikely]]
        return false;
    const std::int64_t left =
        shard->until_sample.load(std::memory_order_relaxed) - static_cast<std::int64_t>(bytes);
    shard->until_sample.store(left, std::memory_order_relaxed);
    return left < 0;
}

// Records the block when the profiler runs, and returns the trailer that says so.
[[gnu::cold, gnu::noinline]] BlockTrailer sample_allocation(MemoryBlock block, BlockTrailer trailer) noexcept;
[[gnu::cold, gnu::noinline]] void forget_sample(const void* block) noexcept;
[[gnu::cold, gnu::noinline]] void move_sample(const void* old_block, MemoryBlock block) noexcept;

}  // namespace ouro::detail
