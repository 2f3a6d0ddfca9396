// Polling while nothing happens, from crossing a level to the handler on the worker, and looking at
// everything.
#include "harness/case.hpp"
#include "harness/must.hpp"
#include "observe/observe_suite.hpp"

#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/observe/budget.hpp>
#include <ouro/observe/charged_allocator.hpp>
#include <ouro/observe/default_tags.hpp>
#include <ouro/observe/metrics.hpp>
#include <ouro/observe/pressure.hpp>
#include <ouro/os/clock.hpp>
#include <ouro/os/thread.hpp>

#include <atomic>
#include <memory>

namespace ouro::bench {
namespace {

constexpr std::size_t kBudget = std::size_t{1} << 20;

// Gives its one block back, and tells when it was asked.
class OneBlock final : public PressureHandler {
public:
    explicit OneBlock(MemoryResource& memory) noexcept : memory_(memory) {}

    void fill() {
        block_ = must(memory_.allocate(kBudget * 7 / 10, kDefaultAlignment), "allocate");
        is_full_.store(true, std::memory_order_release);
    }
    std::size_t relieve(PressureLevel, std::size_t) noexcept override {
        if (!is_full_.load(std::memory_order_acquire)) return 0;
        asked_ns_.store(os::monotonic_ns(), std::memory_order_relaxed);
        memory_.deallocate(block_, kDefaultAlignment);
        is_full_.store(false, std::memory_order_release);
        return block_.size;
    }
    [[nodiscard]] bool is_full() const noexcept { return is_full_.load(std::memory_order_acquire); }
    [[nodiscard]] std::uint64_t asked_ns() const noexcept {
        return asked_ns_.load(std::memory_order_relaxed);
    }

private:
    MemoryResource& memory_;
    MemoryBlock block_;
    std::atomic<bool> is_full_ = false;
    std::atomic<std::uint64_t> asked_ns_ = 0;
};

Work idle_polls(PressureMonitor& monitor) {
    return repeat([&monitor](std::uint64_t) { return static_cast<std::uint64_t>(monitor.poll().level); });
}

Work metrics(MetricsSnapshot& snapshot) {
    return [&snapshot](Round& round) {
        round.time([&] {
            for (std::uint64_t done = 0; done < round.operations(); ++done)
                take_metrics(snapshot);
        });
        round.check(1);
    };
}

}  // namespace

void measure_pressure(Session& session) {
    auto heap = must(SmallObjectAllocator::create({.name = "benchmark"}), "make a heap");
    const Tag tag = must(register_tag("benchmark-cache"), "register a tag");
    must(set_budget(tag, {.hard_bytes = kBudget}), "set a budget");
    ChargedAllocator memory(heap, tag);
    OneBlock cache(memory);
    PressureMonitor monitor;
    PressureOptions options;
    options.tag = tag;
    options.watches_machine = false;
    must(monitor.configure(options), "configure");
    must(monitor.add(cache, 1, "cache"), "add a handler");

    session.measure("pressure: a poll while nothing happens", kNanoseconds)
        .ours(idle_polls(monitor))
        .median()
        .run();
    MetricsSnapshot snapshot;
    session.measure("metrics: everything at one moment", kMicroseconds)
        .ours(metrics(snapshot))
        .median()
        .run();

    must(monitor.start_worker(), "start the worker");
    session.measure("pressure: crossing a level to the handler", kMicroseconds)
        .ours([&](Round& round) {
            cache.fill();
            const std::uint64_t crossed = os::monotonic_ns();
            while (cache.is_full())
                os::yield_thread();
            const std::uint64_t asked = cache.asked_ns();
            round.add_time(asked > crossed ? static_cast<double>(asked - crossed) : 0);
            round.check(1);
        })
        .operations(1)
        .median()
        .on_any_core()
        .note("on the worker, which sleeps")
        .run();
    monitor.stop_worker();
    must(monitor.remove(cache), "remove the handler");
    must(set_budget(tag, {}), "clear the budget");
}

}  // namespace ouro::bench
