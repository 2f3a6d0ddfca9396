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
    LedgerShard* const shard = t_ledger.shard;
    if (shard == nullptr) [[unlikely]]
        return is_shared_sample_due(bytes);
    return count_down(shard->samples, bytes);
}

// The bytes that were counted last came to nothing.
[[gnu::cold, gnu::noinline]] void uncount_sample(std::size_t bytes) noexcept;

// Records the block when the profiler runs; true when its end must be told. The bytes are those that ended
// the countdown. The site begins with `caller`, a return address on the stack.
[[gnu::cold, gnu::noinline]] bool sample_allocation(MemoryBlock block, Tag tag, std::size_t bytes,
                                                    const void* caller) noexcept;
[[gnu::cold, gnu::noinline]] void forget_sample(const void* block) noexcept;

// A sample while its block may move: out of the table, and still counted as live until it is put back or
// ended.
struct TakenSample {
    std::uint64_t bytes = 0;
    // Zero: there is none.
    std::uint64_t weight = 0;
    std::uint64_t time_ns = 0;
    std::int64_t position = 0;
    std::uint32_t clock_id = 0;
    std::uint32_t site = 0;
    // Of the tables that it is from.
    std::uint64_t started_ns = 0;
};
[[nodiscard, gnu::cold, gnu::noinline]] TakenSample take_sample(const void* block) noexcept;
[[gnu::cold, gnu::noinline]] void put_back_sample(const void* block, const TakenSample& sample) noexcept;
// On the thread that ends it, before what comes after is counted.
[[gnu::cold, gnu::noinline]] void end_taken_sample(const TakenSample& sample) noexcept;

// For heaps that count and mark in ways of their own. All of them may be called from any thread, and inside
// of a fork.

// The next number for a clock that lies in no shard.
[[nodiscard]] std::uint32_t new_clock_id() noexcept;

// Makes what start_profiler needs, so that the handler of USR1 or USR2 may call it later on, and lets readers
// of the records know what it waits for; false where there is no memory for it.
[[nodiscard]] bool prepare_profiler(std::uint32_t awaited_signal) noexcept;
// True in a signal handler that interrupted its thread's own work on the tables: start_profiler finds them
// busy then, and mark_growth does nothing.
[[nodiscard]] bool is_inside_profile() noexcept;

// How many bytes later a thread looks again whether the profiler was started, should it have missed that.
inline constexpr std::int64_t kLookBytes = std::int64_t{1} << 20;

// Begins the next countdown of a clock whose last one ended with these bytes. The mean that the bytes are a
// sample for; zero when they are none, because the profiler does not run, or the rate has changed. While it
// does not run, the next look is `look_bytes` away.
[[nodiscard]] std::uint64_t begin_countdown(SampleClock& clock, std::size_t bytes,
                                            std::int64_t look_bytes = kLookBytes) noexcept;

struct SampledBlock {
    const void* address = nullptr;
    std::size_t bytes = 0;
    Tag tag = {};
    // Innermost first.
    std::span<void* const> stack{};
    // What begin_countdown said.
    std::uint64_t mean_bytes = 0;
};
// False when the block is not known from now on, for lack of room or of an address; it is counted at its site
// all the same.
[[nodiscard]] bool record_sample(const SampledBlock& block, const SampleClock& clock) noexcept;

// False for certain when nobody sampled the block: without a lock.
[[nodiscard]] bool may_be_sampled(const void* block) noexcept;

// The bytes that a sampled block was recorded with; zero for all others.
[[nodiscard]] std::size_t sampled_size(const void* block) noexcept;
// The same, and the block is not known any more. The clock is the calling thread's.
std::size_t forget_sampled_block(const void* block, const SampleClock& clock) noexcept;

}  // namespace ouro::detail
