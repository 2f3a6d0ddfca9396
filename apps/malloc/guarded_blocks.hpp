#pragma once

#include <ouro/memory/sampled_guards.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

// With the setting `guard`, one allocation in so many gets pages of its own between pages that fault: what a
// program does to such a block beyond its end or after its free stops it there, with a report. The blocks lie
// outside of the core and of the mappings, and every function that takes a block asks here first.
namespace ouro::process_heap {

// Null unless the setting is on; set once, before the first block is handed out.
inline constinit std::atomic<SampledGuards*> g_guards = nullptr;

[[nodiscard]] inline bool is_guarding() noexcept {
    return g_guards.load(std::memory_order_acquire) != nullptr;
}

[[nodiscard]] inline bool is_guarded(const void* block) noexcept {
    const SampledGuards* const guards = g_guards.load(std::memory_order_acquire);
    return guards != nullptr && guards->owns(block);
}

// Once. One allocation in `every` on average, at most so many blocks at once. Where the system does not
// let us, it says so on standard error, and nothing is guarded.
void start_guarding(std::size_t every, std::size_t slots) noexcept;

// A guarded block when it is this allocation's turn, there is room, and the block is not too large; null
// otherwise. Takes an alignment that is a power of two, and keeps errno. Requires: is_guarding().
[[nodiscard]] void* allocate_guarded(std::size_t size, std::size_t alignment) noexcept;

// Reports what is no live block, and ends the program then. Requires: is_guarded(block).
void free_guarded(void* block) noexcept;

// What was asked for; zero for what is no live block. Requires: is_guarded(block).
[[nodiscard]] std::size_t guarded_size(const void* block) noexcept;

// Around a fork, in the parent and in the child. Slots that other threads were changing are lost to the
// child.
void prepare_guards_for_fork() noexcept;
void resume_guards_after_fork() noexcept;

struct GuardedTotals {
    std::size_t blocks = 0;
    std::size_t bytes = 0;
    std::uint64_t allocations = 0;
};
[[nodiscard]] GuardedTotals guarded_totals() noexcept;

}  // namespace ouro::process_heap
