#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/memory/tag.hpp>
#include <ouro/observe/detail/timeline_layout.hpp>
#include <ouro/os/thread.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

// How the use of memory went: a look every so often, in a ring that keeps the latest. Peaks and spikes of a
// tag become events (see events.hpp).
//
//     while (is_running) { ...; poll_timeline(); }        // once a frame; or a TimelineWorker does it
//
// All functions may be called from any thread.
namespace ouro {

struct TimelineOptions {
    std::uint64_t interval_ns = 100'000'000;
    // What a tag and those below it must gain between two looks for a spike.
    std::size_t spike_bytes = std::size_t{16} << 20;
    // A new peak is told when it is higher than the last one told of by this, and by a sixteenth of that one.
    std::size_t peak_step_bytes = std::size_t{4} << 20;
};

// Fails with bad_argument (an interval of zero) or out_of_memory.
Expected<void> set_timeline_options(const TimelineOptions& options) noexcept;
[[nodiscard]] TimelineOptions timeline_options() noexcept;

// Takes a look when the interval has passed since the last one; true when it did. A load and a clock
// otherwise. While one thread looks the others need not.
bool poll_timeline() noexcept;
// Takes one now.
void look_at_timeline() noexcept;

struct TagAmount {
    Tag tag = {};
    std::size_t bytes = 0;
};

struct TimelineMoment {
    // Of all looks, from zero.
    std::uint64_t number = 0;
    // os::monotonic_ns.
    std::uint64_t time_ns = 0;
    // Under all tags together, and what the system says that the process takes; zero when it does not.
    std::uint64_t live_bytes = 0;
    std::uint64_t live_blocks = 0;
    std::uint64_t resident_bytes = 0;
    // Committed in the blocks that the engine's parts list (block_registry.hpp), whether charged or not.
    std::uint64_t listed_bytes = 0;
    // What watching memory takes itself (observe_cost in ledger.hpp).
    std::uint64_t record_bytes = 0;
    // Since the program began: the difference of two moments makes a rate.
    std::uint64_t allocated_bytes = 0;
    std::uint64_t freed_bytes = 0;
    std::uint64_t allocations = 0;
    // Live under each tag alone, without those below it: the largest first.
    std::size_t tag_count = 0;
    std::array<TagAmount, detail::kTimelineTags> tags = {};
};

// Reads on from a cursor that begins at zero, oldest first, and returns how many moments there were. What
// was overwritten meanwhile is left out.
std::size_t read_timeline(std::uint64_t& cursor, std::span<TimelineMoment> moments) noexcept;

// A thread that polls. Movable in no way; ends with its scope.
class TimelineWorker {
public:
    TimelineWorker() noexcept = default;
    ~TimelineWorker() { stop(); }
    TimelineWorker(const TimelineWorker&) = delete;
    TimelineWorker& operator=(const TimelineWorker&) = delete;

    // Fails as os::Thread::start, or with busy when it runs.
    Expected<void> start() noexcept;
    // Waits for its end. Nothing happens when it does not run.
    void stop() noexcept;

private:
    static void run(void* worker) noexcept;

    os::Thread thread_;
    std::atomic<std::uint32_t> is_ending_{0};
};

}  // namespace ouro
