#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/os/reservation.hpp>
#include <ouro/os/write_tracking.hpp>

#include <cstddef>
#include <span>

namespace ouro::os {

class FaultSlot;

// Finds writes with page protection and a SIGSEGV handler: works on every kernel, at several microseconds per
// granule written. A granule is the unit that is armed and reported.
//
// Beware: a system call that writes into an armed granule (read(2) into a buffer there) fails with EFAULT
// instead of being noticed; open the range first. Each run of open granules is a mapping of its own, of which
// a process has 65,530: hence granules larger than a page. When the kernel refuses another mapping, the whole
// range is opened and counts as written: slower, never wrong.
//
// The process's SIGSEGV handler is installed with the first tracker and stays; faults elsewhere go on to the
// handler that was there before. A program that sets its own afterwards must pass on what it does not know,
// or make its trackers later. A thread that blocks SIGSEGV must not write to a tracked range: the system
// would end the process. One thread at a time calls a tracker; writers may write meanwhile, also while it is
// destroyed.
class FaultTracker {
public:
    static constexpr std::size_t kDefaultGranule = std::size_t{64} << 10;
    static constexpr std::size_t kMaxTrackers = 64;

    // Tracks the range, armed. It is committed memory or a mapping, readable and writable, and starts and
    // ends on granules; a granule is a power of two of at least a page. Fails with bad_alignment,
    // bad_address, zero_size, not_mapped, already_tracked, capacity_exhausted (too many trackers),
    // out_of_memory or not_supported.
    [[nodiscard]] static Expected<FaultTracker> create(MemoryBlock range,
                                                       std::size_t granule_bytes = kDefaultGranule) noexcept;

    constexpr FaultTracker() noexcept = default;
    FaultTracker(FaultTracker&& other) noexcept;
    FaultTracker& operator=(FaultTracker&& other) noexcept;
    // The range becomes readable and writable again.
    ~FaultTracker();

    [[nodiscard]] MemoryBlock range() const noexcept;
    [[nodiscard]] std::size_t granule_bytes() const noexcept;

    // Arms or opens whole granules of the range; out_of_range or bad_address otherwise.
    Expected<void> arm(MemoryBlock part) noexcept;
    Expected<void> open(MemoryBlock part) noexcept;

    // Reports the written granules of a part of the range. Requires: `out` is not empty.
    Expected<ScanResult> scan(MemoryBlock part, std::span<WrittenRange> out, AfterScan after) noexcept;

private:
    FaultTracker(FaultSlot* slot, Reservation flags) noexcept;
    void stop() noexcept;
    [[nodiscard]] Status check_part(MemoryBlock part) const noexcept;

    FaultSlot* slot_ = nullptr;
    Reservation flags_;
};

}  // namespace ouro::os
