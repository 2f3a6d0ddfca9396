#pragma once

#include "slot_store.hpp"
#include "version_index.hpp"

#include <ouro/base/expected.hpp>
#include <ouro/os/fault_tracker.hpp>
#include <ouro/os/kernel_tracker.hpp>
#include <ouro/streams/dirty_map.hpp>
#include <ouro/streams/live_image.hpp>

#include <array>
#include <cstdint>
#include <span>

namespace ouro::detail {

// What the last tick is, for finders that compare.
struct LastTick {
    std::uint32_t tick;
    const VersionIndex& index;
    const SlotStore& slots;
};

struct PageRange {
    std::uint32_t begin;
    std::uint32_t end;
};

// Finds the written pages of segments whose writers declare nothing, and marks them as if they had.
class WriteFinder {
public:
    void carve(Carver& carver, std::uint32_t pages) noexcept { heat_ = carver.take<std::uint8_t>(pages); }

    // Begins with the segments of the image. Fails as the trackers do.
    Status start(const LiveImage& image, RingRefusal& why) noexcept;

    // Marks what was written since the last call. Segments that the kernel cannot tell of are compared
    // instead, so that nothing is lost; returns how many.
    std::uint32_t collect(const LiveImage& image, const LastTick& last, DirtyMap& marks) noexcept;

private:
    // Of the last scan of a segment, for the choice how to do the next.
    struct Seen {
        std::uint32_t hot_pages = 0;
        std::uint32_t cold_runs = 0;
    };

    Status start_one(std::size_t index, const Segment& segment, MemoryBlock block) noexcept;
    Status collect_kernel(const LiveImage& image, const Segment& segment, Seen& seen, const LastTick& last,
                          DirtyMap& marks) noexcept;
    Status scan_kernel(MemoryBlock range, os::AfterScan after, const LiveImage& image, Seen& seen,
                       const LastTick& last, DirtyMap& marks) noexcept;
    void take_written(PageRange range, bool stays_open, const LiveImage& image, Seen& seen,
                      const LastTick& last, DirtyMap& marks) noexcept;
    void arm(PageRange cold, const LiveImage& image, const LastTick& last, DirtyMap& marks) noexcept;
    void warm_up(std::uint32_t page, const LastTick& last) noexcept;
    [[nodiscard]] bool is_looked_at(std::uint32_t page, std::uint32_t tick) const noexcept;
    [[nodiscard]] static bool is_as_last_tick(std::uint32_t page, const LiveImage& image,
                                              const LastTick& last) noexcept;
    [[nodiscard]] bool are_open(std::uint32_t begin, std::uint32_t end, const LastTick& last) const noexcept;
    static void collect_protect(os::FaultTracker& tracker, const LiveImage& image, DirtyMap& marks) noexcept;
    static void collect_compare(const LiveImage& image, const Segment& segment, const LastTick& last,
                                DirtyMap& marks) noexcept;

    os::KernelTracker kernel_;
    std::array<os::FaultTracker, kMaxSegments> protect_;
    // How many ticks running a page of a kernel-tracked segment was written.
    std::span<std::uint8_t> heat_;
    std::array<Seen, kMaxSegments> seen_{};
    bool has_kernel_ = false;
};

}  // namespace ouro::detail
