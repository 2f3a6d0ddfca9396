#pragma once

#include <ouro/base/memory_block.hpp>
#include <ouro/observe/detail/ledger_paths.hpp>
#include <ouro/observe/detail/sample_clock.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

// Where allocations meet the profiler: a countdown of bytes a thread, and slow work for the few that are
// sampled.
namespace ouro::detail {

// The same for threads that have no shard of their own.
[[gnu::cold, gnu::noinline]] bool is_shared_sample_due(std::size_t bytes) noexcept;

// True when this allocation ends the thread's countdown.
[[nodiscard]] inline bool is_sample_due(std::size_t bytes) noexcept {
    LedgerShard* const shard = t_shard;
    if (shard == nullptr) [[unlikely]]
        return is_shared_sample_due(bytes);
    return count_down(shard->samples, bytes);
}

// Records the block when the profiler runs; true when its end must be told. The bytes are those that ended
// the countdown: the block's, or its growth. The site begins with `caller`, a return address on the stack.
[[gnu::cold, gnu::noinline]] bool sample_allocation(MemoryBlock block, Tag tag, std::size_t bytes,
                                                    const void* caller) noexcept;
[[gnu::cold, gnu::noinline]] void forget_sample(const void* block) noexcept;
[[gnu::cold, gnu::noinline]] void move_sample(const void* old_block, MemoryBlock block) noexcept;

// For heaps that count and mark in ways of their own. All of them may be called from any thread, and inside
// of a fork.

// The next number for a clock that lies in no shard.
[[nodiscard]] std::uint32_t new_clock_id() noexcept;

// Begins the next countdown of a clock whose last one ended with these bytes. The mean that the bytes are a
// sample for; zero when they are none, because the profiler does not run, or the rate has changed.
[[nodiscard]] std::uint64_t begin_countdown(SampleClock& clock, std::size_t bytes) noexcept;

struct SampledBlock {
    const void* address = nullptr;
    std::size_t bytes = 0;
    Tag tag = {};
    // Innermost first.
    std::span<void* const> stack{};
    // What begin_countdown said.
    std::uint64_t mean_bytes = 0;
};
// False when the block is not known from now on, for lack of room; it is counted at its site all the same.
[[nodiscard]] bool record_sample(const SampledBlock& block, const SampleClock& clock) noexcept;

// False for certain when nobody sampled the block: without a lock.
[[nodiscard]] bool may_be_sampled(const void* block) noexcept;

// The bytes that a sampled block was recorded with; zero for all others.
[[nodiscard]] std::size_t sampled_size(const void* block) noexcept;
// The same, and the block is not known any more. The clock is the calling thread's.
std::size_t forget_sampled_block(const void* block, const SampleClock& clock) noexcept;

}  // namespace ouro::detail
