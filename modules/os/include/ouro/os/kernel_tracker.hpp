#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/os/write_tracking.hpp>

#include <array>
#include <cstddef>
#include <span>

namespace ouro::os {

// Lets the kernel note which pages are written: userfaultfd's asynchronous write protection, read with one
// PAGEMAP_SCAN. Needs Linux 6.7 and no privilege. The kernel opens a written page by itself, so that writers
// of every kind, system calls included, pay one short fault per page and never wait.
//
// Ranges are whole pages of committed memory or of a MemoryObject's mapping, without huge pages. One thread
// at a time calls a tracker; writers may write meanwhile.
//
// A child made by fork must not use its parent's tracker: it would read and clear the parent's notes.
// Discarding pages of a MemoryObject changes them without a note: open the range, or capture it, yourself.
class KernelTracker {
public:
    static constexpr std::size_t kMaxRanges = 64;

    // not_supported where the kernel lacks it, permission_denied where the system forbids it, too_many_files.
    [[nodiscard]] static Expected<KernelTracker> create() noexcept;

    constexpr KernelTracker() noexcept = default;
    KernelTracker(KernelTracker&& other) noexcept;
    KernelTracker& operator=(KernelTracker&& other) noexcept;
    // Tracking of all ranges ends.
    ~KernelTracker();

    // Starts tracking, armed. Fails with not_mapped, already_tracked, capacity_exhausted, zero_size,
    // bad_address or out_of_memory.
    Expected<void> add(MemoryBlock range) noexcept;
    // Requires: a range as it was added, else not_tracked.
    Expected<void> remove(MemoryBlock range) noexcept;

    // Arms every page of the range; not_tracked when it is not this tracker's.
    Expected<void> arm(MemoryBlock range) noexcept;
    // Opens every page of the range: they count as written in each scan until they are armed.
    Expected<void> open(MemoryBlock range) noexcept;

    // Reports the written pages of a tracked range. Requires: `out` is not empty.
    Expected<ScanResult> scan(MemoryBlock range, std::span<WrittenRange> out, AfterScan after) noexcept;

private:
    KernelTracker(int fault_descriptor, int pagemap_descriptor) noexcept
        : fault_descriptor_(fault_descriptor), pagemap_descriptor_(pagemap_descriptor) {}

    Expected<void> set_protection(MemoryBlock range, bool armed) noexcept;
    [[nodiscard]] Status check_tracked(MemoryBlock range) const noexcept;

    int fault_descriptor_ = -1;
    int pagemap_descriptor_ = -1;
    std::array<MemoryBlock, kMaxRanges> ranges_{};
    std::size_t range_count_ = 0;
};

}  // namespace ouro::os
