#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

// The table that the SIGSEGV handler reads: which ranges are tracked and where their flags are. A fixed array
// of atomics, because a signal handler can neither lock nor allocate.
namespace ouro::os {

// What is known of a granule. Opening it takes a system call, during which a scan must neither miss the write
// nor arm the granule for good: hence the states in between, which only the one who set them ends.
enum class GranuleState : std::uint8_t { armed, open, opening, opening_all };

using GranuleFlag = std::atomic<GranuleState>;
static_assert(sizeof(GranuleFlag) == 1 && GranuleFlag::is_always_lock_free);

// Granules [first, end) of a tracked range.
struct GranuleRun {
    std::size_t first = 0;
    std::size_t end = 0;
};

class FaultSlot {
public:
    [[nodiscard]] MemoryBlock range() const noexcept { return {begin_.load(), size_.load()}; }
    [[nodiscard]] std::size_t granule_bytes() const noexcept {
        return std::size_t{1} << granule_shift_.load();
    }

    [[nodiscard]] GranuleRun run_of(MemoryBlock part) const noexcept;
    [[nodiscard]] MemoryBlock block_of(GranuleRun run) const noexcept;

    // The first run of written granules inside the given one; empty when there is none.
    [[nodiscard]] GranuleRun next_written(GranuleRun within) const noexcept;
    // Moves the granules that are in state `from`, and leaves the others.
    void change(GranuleRun run, GranuleState from, GranuleState to) noexcept;

    // In the signal handler: notes the write and opens the granule. False when the system does not let it.
    [[nodiscard]] bool note_write(const std::byte* address) noexcept;

private:
    [[nodiscard]] bool open_everything() noexcept;

    friend Expected<FaultSlot*> claim_fault_slot(MemoryBlock, std::size_t, GranuleFlag*) noexcept;
    friend void free_fault_slot(FaultSlot&) noexcept;

    std::atomic<std::byte*> begin_{nullptr};
    // Zero: the slot is free.
    std::atomic<std::size_t> size_{0};
    std::atomic<unsigned> granule_shift_{0};
    std::atomic<GranuleFlag*> flags_{nullptr};
};

// Fails with already_tracked when the range overlaps another slot's, capacity_exhausted when all are taken.
[[nodiscard]] Expected<FaultSlot*> claim_fault_slot(MemoryBlock range, std::size_t granule_bytes,
                                                    GranuleFlag* flags) noexcept;
// Returns when no handler uses the slot or its flags any more.
void free_fault_slot(FaultSlot& slot) noexcept;

// Puts our handler in front of the one that is there; does nothing when it is there already.
[[nodiscard]] Status install_fault_handler() noexcept;

}  // namespace ouro::os
