#include "ledger_accounts.hpp"
#include "ledger_shards.hpp"
#include "timeline_ring.hpp"

#include <ouro/memory/block_registry.hpp>
#include <ouro/observe/events.hpp>
#include <ouro/observe/ledger.hpp>
#include <ouro/observe/timeline.hpp>
#include <ouro/os/clock.hpp>
#include <ouro/os/futex.hpp>
#include <ouro/os/process_memory.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace ouro {
namespace {

using detail::kTimelineTags;
using detail::kTimelineTagShift;
using detail::Ledger;
using detail::TagWatch;
using detail::timeline_sequence;
using detail::TimelineRing;
using detail::TimelineSlot;

constinit std::atomic<std::uint64_t> g_interval_ns = TimelineOptions{}.interval_ns;
constinit std::atomic<std::size_t> g_spike_bytes = TimelineOptions{}.spike_bytes;
constinit std::atomic<std::size_t> g_peak_step_bytes = TimelineOptions{}.peak_step_bytes;
// The process that looks now; zero: nobody. In the child of a fork it may be another, which looks no more.
constinit std::atomic<std::uint32_t> g_looker = 0;

bool try_begin_look() noexcept {
    const std::uint32_t own = os::process_id();
    std::uint32_t looker = g_looker.load(std::memory_order_relaxed);
    return looker != own && g_looker.compare_exchange_strong(looker, own, std::memory_order_acquire);
}

struct Sums {
    std::uint64_t allocated_bytes = 0;
    std::uint64_t freed_bytes = 0;
    std::uint64_t allocations = 0;
    std::uint64_t frees = 0;
    std::size_t tags = 0;
    // Of each tag alone.
    std::array<std::uint64_t, kMaxTags> live = {};
};

void sum_tag(Ledger& ledger, std::size_t id, Sums& sums) noexcept {
    std::uint64_t freed = 0;
    std::uint64_t allocated = 0;
    detail::visit_shards(ledger, [&](detail::LedgerShard& shard) noexcept {
        freed += static_cast<std::uint64_t>(shard.freed(id));
        sums.frees += shard.cells[id].frees.load(std::memory_order_relaxed);
    });
    detail::visit_shards(ledger, [&](detail::LedgerShard& shard) noexcept {
        allocated += static_cast<std::uint64_t>(shard.cells[id].allocated.load(std::memory_order_relaxed));
        sums.allocations += shard.cells[id].allocations.load(std::memory_order_relaxed);
    });
    // Below nothing while a grant is seen by half.
    const std::uint64_t known = static_cast<std::int64_t>(freed) < 0 ? 0 : std::min(freed, allocated);
    sums.live[id] = allocated - known;
    sums.allocated_bytes += allocated;
    sums.freed_bytes += known;
}

void sum_up(Ledger& ledger, Sums& sums) noexcept {
    sums.tags = tag_count();
    for (std::size_t id = 0; id < sums.tags; ++id) {
        if (ledger.accounts[id].is_open.load(std::memory_order_acquire) != 0) sum_tag(ledger, id, sums);
    }
}

std::uint64_t resident_bytes() noexcept {
    const auto memory = os::process_memory();
    return memory ? memory->resident_bytes : 0;
}

// What is part of another block, or of memory that is not the engine's, does not count.
std::uint64_t listed_bytes() noexcept {
    std::uint64_t sum = 0;
    visit_blocks([&](const BlockInfo& block) noexcept {
        if (block.kind != BlockKind::borrowed) sum += block.committed_bytes;
    });
    return sum;
}

// The tags with the most, largest first, one a word.
std::array<std::uint64_t, kTimelineTags> largest_tags(const Sums& sums) noexcept {
    constexpr std::uint64_t kBytes = (std::uint64_t{1} << kTimelineTagShift) - 1;
    std::array<std::uint64_t, kTimelineTags> top{};
    for (std::size_t id = 0; id < sums.tags; ++id) {
        std::uint64_t word = std::min(sums.live[id], kBytes) | std::uint64_t{id} << kTimelineTagShift;
        for (std::uint64_t& place : top) {
            if ((word & kBytes) > (place & kBytes)) std::swap(word, place);
        }
    }
    return top;
}

void write_slot(TimelineRing& ring, const Sums& sums) noexcept {
    const std::uint64_t number = ring.next.load(std::memory_order_relaxed);
    TimelineSlot& slot = ring.slots[number % detail::kTimelineSlots];
    slot.sequence.store(timeline_sequence(number) - 1, std::memory_order_relaxed);
    // Each store is a release, so that a reader who sees one of them sees the odd sequence as well.
    const auto store = [](std::atomic<std::uint64_t>& word, std::uint64_t value) noexcept {
        word.store(value, std::memory_order_release);
    };
    store(slot.time_ns, os::monotonic_ns());
    store(slot.live_bytes, sums.allocated_bytes - sums.freed_bytes);
    store(slot.live_blocks, sums.allocations - std::min(sums.frees, sums.allocations));
    store(slot.resident_bytes, resident_bytes());
    store(slot.listed_bytes, listed_bytes());
    store(slot.record_bytes, observe_cost().used_bytes);
    store(slot.allocated_bytes, sums.allocated_bytes);
    store(slot.freed_bytes, sums.freed_bytes);
    store(slot.allocations, sums.allocations);
    const auto top = largest_tags(sums);
    for (std::size_t place = 0; place < top.size(); ++place)
        store(slot.tags[place], top[place]);
    store(slot.sequence, timeline_sequence(number));
    ring.next.store(number + 1, std::memory_order_release);
}

void tell(ObserveEventKind kind, std::size_t id, std::uint64_t bytes, std::uint64_t before) noexcept {
    post_event({.kind = kind,
                .tag = Tag::from_id(static_cast<std::uint16_t>(id)),
                .bytes = bytes,
                .limit_bytes = before});
}

// What is live with those below is in sums.live[id] by now.
void watch_tag(TagWatch& watch, std::size_t id, std::uint64_t live, std::uint64_t peak,
               bool is_first_look) noexcept {
    const std::uint64_t before = std::exchange(watch.last_bytes, live);
    if (is_first_look) {
        watch.told_peak_bytes = std::max(peak, live);
        return;
    }
    if (live > before && live - before > g_spike_bytes.load(std::memory_order_relaxed))
        tell(ObserveEventKind::spike, id, live, before);
    const std::uint64_t step = std::max<std::uint64_t>(g_peak_step_bytes.load(std::memory_order_relaxed),
                                                       watch.told_peak_bytes / 16);
    if (peak > watch.told_peak_bytes && peak - watch.told_peak_bytes > step)
        tell(ObserveEventKind::new_peak, id, peak, std::exchange(watch.told_peak_bytes, peak));
}

void watch_tags(Ledger& ledger, TimelineRing& ring, Sums& sums) noexcept {
    const bool is_first_look = ring.next.load(std::memory_order_relaxed) == 1;
    // Children have larger numbers: each one's sum is complete before it goes to the parent's.
    for (std::size_t id = sums.tags; id-- != 0;) {
        const detail::LedgerAccount& account = ledger.accounts[id];
        if (account.is_open.load(std::memory_order_acquire) == 0) continue;
        if (id != 0) sums.live[account.parent] += sums.live[id];
        const std::int64_t peak = account.peak.load(std::memory_order_relaxed);
        watch_tag(ring.watches[id], id, sums.live[id],
                  static_cast<std::uint64_t>(std::max<std::int64_t>(peak, 0)), is_first_look);
    }
}

void look(detail::ObserveImage& image) noexcept {
    Sums sums;
    sum_up(image.ledger, sums);
    write_slot(image.timeline, sums);
    watch_tags(image.ledger, image.timeline, sums);
    image.timeline.next_look_ns.store(os::monotonic_ns() + g_interval_ns.load(std::memory_order_relaxed),
                                      std::memory_order_relaxed);
}

bool read_slot(const TimelineSlot& slot, std::uint64_t number, TimelineMoment& moment) noexcept {
    if (slot.sequence.load(std::memory_order_acquire) != timeline_sequence(number)) return false;
    const auto load = [](const std::atomic<std::uint64_t>& word) noexcept {
        return word.load(std::memory_order_acquire);
    };
    moment = {.number = number,
              .time_ns = load(slot.time_ns),
              .live_bytes = load(slot.live_bytes),
              .live_blocks = load(slot.live_blocks),
              .resident_bytes = load(slot.resident_bytes),
              .listed_bytes = load(slot.listed_bytes),
              .record_bytes = load(slot.record_bytes),
              .allocated_bytes = load(slot.allocated_bytes),
              .freed_bytes = load(slot.freed_bytes),
              .allocations = load(slot.allocations)};
    for (const auto& place : slot.tags) {
        const std::uint64_t word = load(place);
        const std::uint64_t bytes = word & ((std::uint64_t{1} << kTimelineTagShift) - 1);
        if (bytes == 0) break;
        moment.tags[moment.tag_count++] = {
            Tag::from_id(static_cast<std::uint16_t>(word >> kTimelineTagShift)),
            static_cast<std::size_t>(bytes)};
    }
    return slot.sequence.load(std::memory_order_relaxed) == timeline_sequence(number);
}

}  // namespace

Expected<void> set_timeline_options(const TimelineOptions& options) noexcept {
    if (options.interval_ns == 0) return Status::bad_argument;
    detail::ObserveImage* const image = detail::observe_image();
    if (image == nullptr) return Status::out_of_memory;
    g_interval_ns.store(options.interval_ns, std::memory_order_relaxed);
    g_spike_bytes.store(options.spike_bytes, std::memory_order_relaxed);
    g_peak_step_bytes.store(options.peak_step_bytes, std::memory_order_relaxed);
    image->timeline.next_look_ns.store(0, std::memory_order_relaxed);
    return {};
}

TimelineOptions timeline_options() noexcept {
    return {.interval_ns = g_interval_ns.load(std::memory_order_relaxed),
            .spike_bytes = g_spike_bytes.load(std::memory_order_relaxed),
            .peak_step_bytes = g_peak_step_bytes.load(std::memory_order_relaxed)};
}

bool poll_timeline() noexcept {
    detail::ObserveImage* const image = detail::observe_image();
    if (image == nullptr) return false;
    if (os::monotonic_ns() < image->timeline.next_look_ns.load(std::memory_order_relaxed)) return false;
    if (!try_begin_look()) return false;
    look(*image);
    g_looker.store(0, std::memory_order_release);
    return true;
}

void look_at_timeline() noexcept {
    detail::ObserveImage* const image = detail::observe_image();
    if (image == nullptr) return;
    while (!try_begin_look())
        os::yield_thread();
    look(*image);
    g_looker.store(0, std::memory_order_release);
}

std::size_t read_timeline(std::uint64_t& cursor, std::span<TimelineMoment> moments) noexcept {
    const detail::ObserveImage* const image = detail::observe_image();
    if (image == nullptr) return 0;
    const TimelineRing& ring = image->timeline;
    const std::uint64_t next = ring.next.load(std::memory_order_acquire);
    if (next > detail::kTimelineSlots) cursor = std::max(cursor, next - detail::kTimelineSlots);
    std::size_t count = 0;
    for (; cursor < next && count < moments.size(); ++cursor) {
        if (read_slot(ring.slots[cursor % detail::kTimelineSlots], cursor, moments[count])) ++count;
    }
    return count;
}

Expected<void> TimelineWorker::start() noexcept {
    if (thread_.is_joinable()) return Status::busy;
    is_ending_.store(0, std::memory_order_relaxed);
    auto thread = os::Thread::start([](void* worker) { run(worker); }, this, {.name = "ouro-timeline"});
    if (!thread) return thread.status();
    thread_ = *std::move(thread);
    return {};
}

void TimelineWorker::stop() noexcept {
    if (!thread_.is_joinable()) return;
    is_ending_.store(1, std::memory_order_release);
    os::wake_all(is_ending_);
    thread_.join();
}

void TimelineWorker::run(void* worker) noexcept {
    auto& ending = static_cast<TimelineWorker*>(worker)->is_ending_;
    while (ending.load(std::memory_order_acquire) == 0) {
        static_cast<void>(poll_timeline());
        // A little early would mean a second turn.
        os::wait_on(ending, 0, g_interval_ns.load(std::memory_order_relaxed));
    }
}

}  // namespace ouro
