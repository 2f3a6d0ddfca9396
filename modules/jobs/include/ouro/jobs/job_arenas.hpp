#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/base/expected.hpp>
#include <ouro/jobs/job_pool.hpp>
#include <ouro/memory/allocator.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/os/reservation.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace ouro {

namespace detail {
class ArenaTable;
struct Arena;
}  // namespace detail

struct JobArenasOptions {
    const char* name = "job scratch";
    // Untagged stands for "job arenas".
    Tag tag = {};
    // Of each arena: addresses, of which memory is only what was needed at once so far.
    std::size_t max_bytes = std::size_t{4} << 20;
    std::size_t commit_step_bytes = std::size_t{64} << 10;
    // Of each arena, ready from the beginning.
    std::size_t prewarm_bytes = 0;
    // Threads that are no workers of the pool and have a ScratchScope open at once: up to kMaxOutsideThreads.
    unsigned outside_threads = 4;
};

inline constexpr unsigned kMaxOutsideThreads = 32;

// Exact once nobody has a scope open.
struct JobArenasStats {
    unsigned arenas = 0;
    // Arenas that are lent to threads outside the pool at this moment.
    unsigned lent_arenas = 0;
    // The most that one arena held at once, and the sum of that over all.
    std::size_t high_water_bytes = 0;
    std::size_t total_high_water_bytes = 0;
    std::uint64_t scopes = 0;
    // Scopes that found no arena free.
    std::uint64_t refused_scopes = 0;
};

// Scratch memory for jobs, tasks and bodies of loops: a FrameAllocator for each worker of a pool, and some
// that are lent to other threads for as long as they are in a scope. Memory that was needed once stays, so
// that nothing is asked of the system when the same is needed again.
//
//     auto arenas = JobArenas::create(pool);
//     if (!arenas) return arenas.status();
//     parallel_for(pool, count, 64, [&](std::size_t begin, std::size_t end) {
//         ScratchScope scratch(*arenas);
//         auto block = scratch.allocate(1000);      // free again where the scope ends
//     });
class JobArenas final {
public:
    // Requires: the pool lives as long. Fails with bad_argument (too many outside threads), out_of_memory, or
    // as FrameAllocator::create does.
    [[nodiscard]] static Expected<JobArenas> create(JobPool& pool,
                                                    const JobArenasOptions& options = {}) noexcept;
    // Scopes do not notice a move.
    JobArenas(JobArenas&& other) noexcept
        : table_(std::exchange(other.table_, nullptr)), memory_(std::move(other.memory_)) {}
    JobArenas& operator=(JobArenas&& other) noexcept;
    // Requires: nobody is in a scope (assert).
    ~JobArenas() { shut_down(); }

    [[nodiscard]] JobArenasStats stats() const noexcept;
    // Walks everything; corrupt_data when something does not fit together. Requires: nobody is in a scope.
    [[nodiscard]] Status check() const noexcept;

private:
    friend class ScratchScope;

    JobArenas(detail::ArenaTable* table, os::Reservation memory) noexcept
        : table_(table), memory_(std::move(memory)) {}
    void shut_down() noexcept;

    detail::ArenaTable* table_;
    os::Reservation memory_;
};

// Scratch memory until the end of the scope, on this thread alone. Scopes nest, also through loops that begin
// inside of one; what an outer one allocated stays. No destructor runs for what lies in the memory.
//
// A worker always finds its arena. Another thread is refused where outside_threads others are in scopes:
// has_arena() is false then and every allocation fails with capacity_exhausted.
class ScratchScope {
public:
    // Requires: arenas that were not moved from (assert).
    explicit ScratchScope(JobArenas& arenas) noexcept;
    ~ScratchScope();
    ScratchScope(const ScratchScope&) = delete;
    ScratchScope& operator=(const ScratchScope&) = delete;

    [[nodiscard]] bool has_arena() const noexcept { return frame_ != nullptr; }
    // As FrameAllocator::allocate. Requires: no scope that was opened later on this thread is still open,
    // whose end would free it.
    [[nodiscard]] Expected<MemoryBlock> allocate(std::size_t size,
                                                 std::size_t alignment = kDefaultAlignment) noexcept {
        if (frame_ == nullptr) [[unlikely]]
            return Status::capacity_exhausted;
        return frame_->allocate(size, alignment);
    }
    // For collections and whatever else takes an allocator. Requires: has_arena() (assert).
    [[nodiscard]] Allocator allocator() const noexcept {
        OURO_ASSERT(frame_ != nullptr, "this scope found no arena free");
        return *frame_;
    }

private:
    detail::ArenaTable* table_;
    detail::Arena* arena_ = nullptr;
    FrameAllocator* frame_ = nullptr;
    FrameAllocator::Marker start_;
    // Of this thread, on any arenas.
    ScratchScope* outer_;
    // On its arena.
    bool is_outermost_ = true;
};

}  // namespace ouro
