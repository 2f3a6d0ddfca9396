#pragma once

#include "thread_state.hpp"

#include <ouro/observe/detail/sampling.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

// With the setting `profile`, a sample of the allocations is recorded with the stacks they came from, and
// written to a file when the program ends; with `profile_signal`, from a signal on. Sampled blocks of the
// small sizes lie in a region of their own, so that free() tells them from the others where it tells mappings
// from slabs; large ones stay where they are.
namespace ouro::process_heap {

// Set once, before the first block is handed out.
inline constinit bool g_is_profiling = false;

[[nodiscard]] inline bool is_profiling() noexcept {
    return g_is_profiling;
}

// Counts these bytes; true when they may end in a sample. Requires: is_profiling().
[[nodiscard]] inline bool is_sample_due(std::size_t bytes) noexcept {
    return detail::count_down(t_state.clock, bytes);
}

// The bytes that were counted last came to nothing.
inline void uncount_sample(std::size_t bytes) noexcept {
    t_state.clock.left.store(
        t_state.clock.left.load(std::memory_order_relaxed) + static_cast<std::int64_t>(bytes),
        std::memory_order_relaxed);
}

struct ProfiledRegion {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
};
inline constinit ProfiledRegion g_profiled_region;

// Whether the block lies in the region of sampled ones.
[[nodiscard]] inline bool is_profiled(const void* block) noexcept {
    return reinterpret_cast<std::uintptr_t>(block) - g_profiled_region.begin < g_profiled_region.bytes;
}

// Once, before the first block: takes the region. Where there are no addresses it says so on standard error,
// and nothing is profiled.
void prepare_profiling() noexcept;
// Once, as soon as malloc works: starts it, or makes it ready to be asked for.
void start_profiling() noexcept;
// In a signal handler: the first time the profile begins, each further time growth is counted from there on.
// Threads that run already begin with what they have allocated 16 KiB later.
void ask_for_profile() noexcept;
// Whether it has begun.
[[nodiscard]] bool has_profile() noexcept;
// Once, when the library is loaded: looks what stands under the file's name by then, and says so when nothing
// can be written there. The program goes on, and what is in the way may be gone at its end.
void note_begin_of_profile() noexcept;

// After is_sample_due: decides, and returns the sampled block; null when it is none, or there is no room.
// Keeps errno. `alignment` is a power of two.
[[nodiscard]] void* allocate_profiled(std::size_t size, std::size_t alignment) noexcept;
// The same for a block that the heap gave already, and whose free comes to the slow path.
void note_large_block(void* block, std::size_t size) noexcept;

// Requires: is_profiled(block).
void free_profiled(void* block) noexcept;
[[nodiscard]] std::size_t profiled_size(const void* block) noexcept;

// What the heap does to blocks outside of the region. Require: is_profiling().
void forget_large_block(const void* block) noexcept;

// A large block that is about to be resized: to the profiler it goes, and one with the new size comes. Taken
// before its address may be another's.
class ResizedBlock {
public:
    explicit ResizedBlock(const void* block) noexcept;
    void stays(const void* block) noexcept;
    void becomes(void* block, std::size_t new_size) noexcept;

private:
    detail::TakenSample sample_;
};

// Around a fork, in the parent and in the child.
void prepare_profile_for_fork() noexcept;
void resume_profile_after_fork() noexcept;

struct ProfiledTotals {
    std::size_t blocks = 0;
    std::size_t bytes = 0;
    std::uint64_t allocations = 0;
};
[[nodiscard]] ProfiledTotals profiled_totals() noexcept;

}  // namespace ouro::process_heap
