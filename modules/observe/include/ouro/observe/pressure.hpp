#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/observe/detail/handler_table.hpp>
#include <ouro/observe/detail/pressure_image.hpp>
#include <ouro/observe/detail/pressure_levels.hpp>
#include <ouro/observe/detail/pressure_watch.hpp>
#include <ouro/observe/detail/turn.hpp>
#include <ouro/observe/pressure_options.hpp>
#include <ouro/os/thread.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ouro {

// Gives memory back when it gets tight: a cache that drops entries, a world that puts distant creatures away.
class PressureHandler {
public:
    // Frees about so many bytes, more thoroughly the higher the level; returns how many it freed. Runs on the
    // thread that polls, or on the worker, outside of every allocation: it may take its time, allocate, poll,
    // and add or remove handlers, itself among them. What it says is written down but not relied upon: the
    // next handlers are called unless memory has really become free.
    virtual std::size_t relieve(PressureLevel level, std::size_t bytes_wanted) noexcept = 0;

protected:
    PressureHandler() noexcept = default;
    PressureHandler(const PressureHandler&) noexcept = default;
    PressureHandler& operator=(const PressureHandler&) noexcept = default;
    // Handlers belong to whoever made them.
    ~PressureHandler() = default;
};

struct PressureReport {
    PressureLevel level = PressureLevel::none;
    // The worst one, and what it is about.
    PressureSource source = PressureSource::none;
    std::uint64_t used_bytes = 0;
    std::uint64_t limit_bytes = 0;
};

// How long it took from the allocation that crossed a level to the start of the first handler.
struct PressureLatency {
    std::uint64_t count = 0;
    std::uint64_t min_ns = 0;
    std::uint64_t max_ns = 0;
    // How many took at least 2^index nanoseconds and less than twice that.
    std::array<std::uint64_t, detail::kLatencyBuckets> buckets{};

    // Such a percentage took no longer than this; exact to a factor of two. Zero without any.
    [[nodiscard]] std::uint64_t quantile_ns(unsigned percent) const noexcept;
    [[nodiscard]] std::uint64_t median_ns() const noexcept { return quantile_ns(50); }
};

struct PressureStats {
    // Polls that looked, and those that found nothing new to look at or somebody else at it.
    std::uint64_t looks = 0;
    std::uint64_t skipped_polls = 0;
    std::uint64_t level_changes = 0;
    std::uint64_t handler_calls = 0;
    // Times that handlers brought the level down, and that they did not.
    std::uint64_t reliefs = 0;
    std::uint64_t failures = 0;
    // What handlers said they freed, and what was seen to become free.
    std::uint64_t reported_bytes = 0;
    std::uint64_t freed_bytes = 0;
    std::uint64_t handler_ns = 0;
    PressureLatency latency{};
};

// Watches a budget and the machine, and calls handlers when they get full: those with lower priority numbers
// first, so that what is cheap to get back goes before what is precious. While too little becomes free the
// next ones are called, and then all of them again as for the next level, up to critical; then they are left
// alone for a while. All of it happens in poll(), which costs next to nothing while nothing has happened:
//
//     PressureMonitor monitor;                      // the program's budget, and the machine
//     monitor.add(textures, 10, "textures");
//     monitor.poll();                               // once a frame; or monitor.start_worker()
//
// May be used from any thread. It is not movable: the worker and the ledger know where it is. Its handlers
// stay with whoever made them, and must stay until they are removed or the monitor is gone. In the child of a
// fork, the monitors of the parent watch no more; they can only be destroyed there.
class PressureMonitor {
public:
    PressureMonitor() noexcept;
    PressureMonitor(const PressureMonitor&) = delete;
    PressureMonitor& operator=(const PressureMonitor&) = delete;
    // Stops the worker first. Requires: no other thread uses the monitor, and not from one of its handlers.
    ~PressureMonitor();

    // At any time; the levels are found anew by the next poll. Waits for a poll on another thread to end.
    // Fails with bad_argument (thresholds that do not rise from above the hysteresis to at most 100 percent,
    // a tag that is not registered, no interval, no pause, no clock, no reader) or, from inside a handler,
    // busy, and changes nothing then.
    Expected<void> configure(const PressureOptions& options) noexcept;

    // The name is copied, and cut at kHandlerNameBytes. Among equal priorities the one that was added first
    // is called first. Fails with bad_argument when the handler is there already, or capacity_exhausted.
    Expected<void> add(PressureHandler& handler, int priority, std::string_view name = "handler") noexcept;
    // When it returns, the handler is not running and will not be called, whether it was there or has just
    // removed or added itself; it waits where it runs on another thread, so that neither may hold a lock that
    // the other wants. Only on the thread that is running handlers now, nothing is waited for. Fails with
    // not_found.
    Expected<void> remove(PressureHandler& handler) noexcept;

    // Looks, and calls handlers where there is reason to. While another thread is at it, or from inside a
    // handler, it only tells what was found last.
    PressureReport poll() noexcept;
    // What was found last.
    [[nodiscard]] PressureReport report() const noexcept;
    [[nodiscard]] PressureStats stats() const noexcept;

    // A thread that sleeps until the budget crosses a level, or until it is time to ask the machine, and
    // polls then. Fails with busy when there is one or the monitor is another process's, and as
    // os::Thread::start does.
    Expected<void> start_worker() noexcept;
    // Waits for the worker to end; from inside one of its handlers, it only tells it to. Nothing without one.
    void stop_worker() noexcept;

private:
    struct Verdict {
        PressureLevel level = PressureLevel::none;
        PressureSource source = PressureSource::none;
        // Of the limit behind it; null without pressure.
        const detail::LevelGauge* gauge = nullptr;
    };
    // False when somebody else is at it.
    [[nodiscard]] bool try_poll() noexcept;
    [[nodiscard]] bool is_due(std::uint64_t now_ns) const noexcept;
    void look(std::uint64_t now_ns, bool asks_machine) noexcept;
    void measure_machine(std::uint64_t now_ns) noexcept;
    [[nodiscard]] Verdict judge() const noexcept;
    void publish(const Verdict& verdict) noexcept;
    void act(std::uint64_t now_ns) noexcept;
    [[nodiscard]] bool call_all(PressureLevel asked, PressureLevel start, unsigned& calls) noexcept;
    void call(const detail::HandlerCall& call, PressureLevel asked) noexcept;
    void note_latency() noexcept;
    [[nodiscard]] std::uint64_t time_to_next_poll_ns(std::uint64_t now_ns) const noexcept;

    static void run_worker(void* monitor);
    [[nodiscard]] bool is_worker() const noexcept;
    void tell_worker_to_stop() noexcept;
    // False in the child of a fork, which does not have the worker.
    [[nodiscard]] bool is_of_this_process() const noexcept;

    PressureOptions options_;
    detail::Turn turn_;
    detail::HandlerTable handlers_;
    detail::PressureWatch watch_;
    // Where others can read them, or in the monitor itself when all such places are taken.
    detail::PressureState own_state_{};
    detail::PressureState* state_;

    // Of whoever has the turn.
    detail::LevelGauge budget_;
    detail::LevelGauge group_;
    detail::LevelGauge system_;
    unsigned stall_levels_ = 0;
    bool must_look_ = true;
    std::uint64_t next_machine_ns_ = 0;
    std::uint64_t crossed_ns_ = 0;
    std::uint64_t seen_handlers_ = 0;
    Verdict verdict_;
    detail::Pause pause_;

    os::Thread worker_;
    detail::WordLock worker_lock_;
    // Which thread the worker is.
    std::atomic<std::uint64_t> worker_thread_{0};
    std::uint32_t process_;
    std::atomic<bool> is_stopping_{false};
    // How long a worker may sleep, as of the last look.
    std::atomic<std::uint64_t> sleep_ns_{0};
};

}  // namespace ouro
