#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/memory/memory_error.hpp>
#include <ouro/os/reservation.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ouro {

// On which side of a block the page lies that faults.
enum class GuardSide : std::uint8_t { behind, in_front, alternating };

// How many allocations are left until one is guarded. Whoever has a heap for each thread keeps one there, so
// that counting touches nothing that other threads touch.
struct SampleCountdown {
    std::uint32_t left = 1;
};

// Blocks on pages of their own, between pages that fault: an overflow, an underflow or a use after free stops
// at the very instruction, and the report names where the block was allocated and freed. Too dear for every
// block of a program, so a fixed number of slots takes one allocation in so many; with enough players, a bug
// that strikes rarely is found all the same.
//
//     auto guards = SampledGuards::create({.sample_every = 5000});
//     if (guards->should_sample()) block = guards->allocate(size, alignment);   // may fail: take another way
//     ...
//     if (guards->owns(block.data)) guards->deallocate(block, alignment);
//
// Needs the feature page_protection; elsewhere create() answers not_supported. All functions may be called
// from any thread, take no lock, and keep what they know away from the blocks. Pages come from the system and
// go back to it, also under a seal.
class SampledGuards {
public:
    struct Options {
        const char* name = "guards";
        // Guarded blocks at once. A freed slot rests until the others were used in turn.
        std::uint32_t slots = 256;
        // The largest block; rounded up to pages. Takes addresses only.
        std::size_t slot_bytes = std::size_t{16} << 10;
        // One allocation in so many on average, 1 is every one, 0 is none.
        std::uint32_t sample_every = 1000;
        GuardSide side = GuardSide::alternating;
        // Explains faults in its blocks on standard error, through a handler of SIGSEGV that passes them on.
        bool explain_faults = true;
    };

    // Fails as os::reserve and os::commit do, with zero_size or not_supported.
    [[nodiscard]] static Expected<SampledGuards> create(const Options& options) noexcept;

    constexpr SampledGuards() noexcept = default;
    SampledGuards(SampledGuards&& other) noexcept;
    SampledGuards& operator=(SampledGuards&& other) noexcept;
    ~SampledGuards();

    // Whether this allocation is one to guard. Threads that share the countdown may lose a tick.
    [[nodiscard]] bool should_sample() noexcept {
        const std::uint32_t left = left_.load(std::memory_order_relaxed);
        if (left > 1) [[likely]] {
            left_.store(left - 1, std::memory_order_relaxed);
            return false;
        }
        return begin_interval();
    }
    [[nodiscard]] bool should_sample(SampleCountdown& countdown) noexcept {
        if (countdown.left > 1) [[likely]] {
            --countdown.left;
            return false;
        }
        return begin_interval(countdown);
    }

    [[nodiscard]] std::uint32_t sample_every() const noexcept;
    // A countdown that runs is finished first.
    void set_sample_every(std::uint32_t every) noexcept;

    // A guarded block of exactly this size. Fails with zero_size, bad_alignment, capacity_exhausted (too
    // large, or all slots live) or out_of_memory; the caller then takes its usual way.
    [[nodiscard]] Expected<MemoryBlock> allocate(std::size_t size, std::size_t alignment) noexcept;

    // Requires: owns(block.data). Whatever is wrong with the block or the call is reported.
    void deallocate(MemoryBlock block, std::size_t alignment) noexcept;
    // The same for callers who do not know size and alignment, as free(3) does not.
    void deallocate(void* address) noexcept;

    [[nodiscard]] bool owns(const void* address) const noexcept { return pages_.block().contains(address); }
    // The live block that starts at the address; null when there is none.
    [[nodiscard]] MemoryBlock block_at(const void* address) const noexcept;

    // What an access at the address would be, and of which block; false when it concerns none.
    [[nodiscard]] bool describe(const void* address, MemoryErrorReport& report) const noexcept;

    [[nodiscard]] std::size_t live_blocks() const noexcept;
    // How many slots all allocations so far have looked at: about one each, and none while all are live.
    [[nodiscard]] std::uint64_t slots_tried() const noexcept;
    // Addresses for blocks and guards.
    [[nodiscard]] std::size_t reserved_bytes() const noexcept { return pages_.block().size; }
    // ok, or corrupt_data when something was written beside a live block. Other threads may allocate
    // meanwhile, not free.
    [[nodiscard]] Status check() const noexcept;

    // Calls visit(context, block, alignment, call sites) for each live block; as for check().
    using Visit = void (*)(void* context, MemoryBlock block, std::size_t alignment,
                           const CallSites& allocated_at);
    void visit_live(Visit visit, void* context) const noexcept;

    struct State;

private:
    SampledGuards(os::Reservation records, os::Reservation pages, State* state) noexcept;
    [[gnu::cold, gnu::noinline]] bool begin_interval() noexcept;
    [[gnu::cold, gnu::noinline]] bool begin_interval(SampleCountdown& countdown) noexcept;

    os::Reservation records_;
    os::Reservation pages_;
    State* state_ = nullptr;
    std::atomic<std::uint32_t> left_{1};
};

// As SampledGuards::describe, asking all that exist and explain faults.
[[nodiscard]] bool describe_fault(const void* address, MemoryErrorReport& report) noexcept;

}  // namespace ouro
