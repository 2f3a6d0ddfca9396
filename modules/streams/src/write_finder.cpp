#include "write_finder.hpp"

#include "page_copy.hpp"
#include "refuse.hpp"
#include "ring_pause.hpp"

#include <ouro/base/assert.hpp>

#include <algorithm>
#include <utility>

namespace ouro::detail {
namespace {

// A page written so many ticks running is left open and captured without asking: its faults would cost more.
constexpr std::uint8_t kHotTicks = 3;
// Neighbours are looked at in one tick, so that those that are hot no more are armed by one call.
constexpr unsigned kLookedAtTogetherShift = 6;
// So many pages are taken as written without a question to the kernel, when all of them are open.
constexpr std::uint32_t kTakenTogether = 256;
// The heat of a page that was hot, until it is written again.
constexpr std::uint8_t kFoundUnchanged = 0;

// So often a hot page is compared with the last tick, to see whether it still is: the longer it was, the
// rarer. So no more is captured in vain than before in earnest, but for a few ticks.
std::uint32_t look_ticks(std::uint8_t heat) noexcept {
    if (heat < 16) return 16;
    return heat < 64 ? 32 : 128;
}

std::uint32_t page_of(const LiveImage& image, std::uint64_t address) noexcept {
    const auto begin = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(image.block().data));
    return static_cast<std::uint32_t>((address - begin) >> kStatePageShift);
}

MemoryBlock block_of(PageRange pages, const LiveImage& image) noexcept {
    return image.block().sub(std::size_t{pages.begin} << kStatePageShift,
                             std::size_t{pages.end - pages.begin} << kStatePageShift);
}

}  // namespace

Status WriteFinder::start(const LiveImage& image, RingRefusal& why) noexcept {
    for (std::size_t index = 0; index < image.segments().size(); ++index) {
        const Segment& segment = image.segments()[index];
        const Status status = start_one(index, segment, image.block_of(segment));
        if (status != Status::ok) return refuse(why, status, RingFault::tracker, segment.name());
    }
    return Status::ok;
}

Status WriteFinder::start_one(std::size_t index, const Segment& segment, MemoryBlock block) noexcept {
    if (segment.tracking == Tracking::protect) {
        auto tracker = os::FaultTracker::create(block);
        if (!tracker) return tracker.status();
        protect_[index] = *std::move(tracker);
    }
    if (segment.tracking != Tracking::kernel) return Status::ok;
    if (!has_kernel_) {
        auto kernel = os::KernelTracker::create();
        if (!kernel) return kernel.status();
        kernel_ = *std::move(kernel);
        has_kernel_ = true;
    }
    return kernel_.add(block).status();
}

std::uint32_t WriteFinder::collect(const LiveImage& image, const LastTick& last, DirtyMap& marks) noexcept {
    std::uint32_t failures = 0;
    for (std::size_t index = 0; index < image.segments().size(); ++index) {
        const Segment& segment = image.segments()[index];
        Status status = Status::ok;
        if (segment.tracking == Tracking::kernel)
            status = collect_kernel(image, segment, seen_[index], last, marks);
        if (segment.tracking == Tracking::protect) collect_protect(protect_[index], image, marks);
        failures += status != Status::ok ? 1U : 0U;
        // What a failed scan has armed again without telling is found by its bytes; what it has not reached
        // stays open, and is told of another time.
        if (segment.tracking == Tracking::compare || status != Status::ok)
            collect_compare(image, segment, last, marks);
    }
    return failures;
}

// One more tick in which the page was written, or taken as such.
void WriteFinder::warm_up(std::uint32_t page, const LastTick& last) noexcept {
    std::uint8_t& heat = heat_[page];
    if (last.index.newest_tick(page) != last.tick)
        heat = 1;
    else if (heat != UINT8_MAX)
        ++heat;
}

bool WriteFinder::is_looked_at(std::uint32_t page, std::uint32_t tick) const noexcept {
    return (tick + (page >> kLookedAtTogetherShift)) % look_ticks(heat_[page]) == 0;
}

// Whether all these pages were left open after the last tick: the kernel would say that all of them were
// written.
bool WriteFinder::are_open(std::uint32_t begin, std::uint32_t end, const LastTick& last) const noexcept {
    for (std::uint32_t page = begin; page < end; ++page)
        if (heat_[page] < kHotTicks || last.index.newest_tick(page) != last.tick) return false;
    return true;
}

// Lists those that were written, and arms runs of pages that are not hot, or not any more.
void WriteFinder::take_written(PageRange range, bool stays_open, const LiveImage& image, Seen& seen,
                               const LastTick& last, DirtyMap& marks) noexcept {
    PageRange cold{range.begin, range.begin};
    const auto end_run = [&](std::uint32_t behind) {
        cold.end = behind;
        if (cold.begin == cold.end) return;
        ++seen.cold_runs;
        if (stays_open) arm(cold, image, last, marks);
    };
    for (std::uint32_t page = range.begin; page < range.end; ++page) {
        warm_up(page, last);
        const bool is_hot = heat_[page] >= kHotTicks;
        if (is_hot && is_looked_at(page, last.tick) && is_as_last_tick(page, image, last)) {
            heat_[page] = kFoundUnchanged;
            continue;
        }
        marks.list_page(page);
        if (!is_hot) continue;
        ++seen.hot_pages;
        end_run(page);
        cold.begin = page + 1;
    }
    end_run(range.end);
}

// What is written to a page between the look at it and its arming no kernel tells of: looked at once more.
// A page that could not be armed stays open, and is captured next time.
void WriteFinder::arm(PageRange cold, const LiveImage& image, const LastTick& last,
                      DirtyMap& marks) noexcept {
    pause_ring(RingPause::pages_looked_at);
    (void)kernel_.arm(block_of(cold, image));
    for (std::uint32_t page = cold.begin; page < cold.end; ++page)
        if (heat_[page] == kFoundUnchanged && !is_as_last_tick(page, image, last)) marks.list_page(page);
}

bool WriteFinder::is_as_last_tick(std::uint32_t page, const LiveImage& image, const LastTick& last) noexcept {
    const std::byte* live = image.block().data + (std::size_t{page} << kStatePageShift);
    const std::uint32_t slot = last.index.newest_slot(page);
    return slot == 0 ? is_zero_page(live) : is_same_page(live, last.slots.page(slot));
}

Status WriteFinder::scan_kernel(MemoryBlock range, os::AfterScan after, const LiveImage& image, Seen& seen,
                                const LastTick& last, DirtyMap& marks) noexcept {
    std::array<os::WrittenRange, 256> found;
    while (range.size != 0) {
        const auto result = kernel_.scan(range, found, after);
        if (!result) return result.status();
        for (const os::WrittenRange& each : std::span(found).first(result->count))
            take_written({page_of(image, each.begin), page_of(image, each.end)},
                         after == os::AfterScan::leave_open, image, seen, last, marks);
        if (result->resume == nullptr) break;
        range = {result->resume, static_cast<std::size_t>(range.end() - result->resume)};
    }
    return Status::ok;
}

// Either one call arms all that it reports, and hot pages fault again; or the cold ones are armed run by run.
Status WriteFinder::collect_kernel(const LiveImage& image, const Segment& segment, Seen& seen,
                                   const LastTick& last, DirtyMap& marks) noexcept {
    const Seen before = std::exchange(seen, {});
    const bool arms_all = before.cold_runs > before.hot_pages + before.hot_pages / 2;
    const os::AfterScan after = arms_all ? os::AfterScan::rearm : os::AfterScan::leave_open;
    const std::uint32_t end = segment.first_page() + segment.page_count();
    std::uint32_t asked = segment.first_page();
    const auto ask = [&](std::uint32_t behind) {
        return scan_kernel(block_of({asked, behind}, image), after, image, seen, last, marks);
    };
    for (std::uint32_t begin = asked; begin < end; begin += kTakenTogether) {
        const std::uint32_t behind = std::min(begin + kTakenTogether, end);
        if (!are_open(begin, behind, last)) continue;
        if (const Status status = ask(begin); status != Status::ok) return status;
        take_written({begin, behind}, true, image, seen, last, marks);
        asked = behind;
    }
    return ask(end);
}

// Asks nothing of the system but to protect again what was written; what it will not protect is told of
// again.
void WriteFinder::collect_protect(os::FaultTracker& tracker, const LiveImage& image,
                                  DirtyMap& marks) noexcept {
    std::array<os::WrittenRange, 256> found;
    MemoryBlock range = tracker.range();
    while (range.size != 0) {
        const auto result = tracker.scan(range, found, os::AfterScan::rearm);
        OURO_ASSERT(result, "a tracker can tell of its own range");
        for (const os::WrittenRange& each : std::span(found).first(result->count))
            for (std::uint32_t page = page_of(image, each.begin); page < page_of(image, each.end); ++page)
                marks.list_page(page);
        if (result->resume == nullptr) break;
        range = {result->resume, static_cast<std::size_t>(range.end() - result->resume)};
    }
}

void WriteFinder::collect_compare(const LiveImage& image, const Segment& segment, const LastTick& last,
                                  DirtyMap& marks) noexcept {
    for (std::uint32_t page = segment.first_page(); page < segment.first_page() + segment.page_count();
         ++page)
        if (!is_as_last_tick(page, image, last)) marks.list_page(page);
}

}  // namespace ouro::detail
