#include "charges.hpp"
#include "child_process.hpp"
#include "pressure_support.hpp"

#include <ouro/observe/detail/event_ring.hpp>
#include <ouro/observe/events.hpp>
#include <ouro/observe/metrics.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>

#include <unistd.h>

namespace ouro {
namespace {

using os::testing_support::run_in_child;
using test::fresh_tag;

// The child has no worker, whatever the copy of the monitor says.
TEST(PressureFork, AMonitorWithAWorkerGoesInTheChildToo) {
    const Tag tag = fresh_tag();
    ASSERT_TRUE(set_budget(tag, {.hard_bytes = 1'000'000}));
    std::optional<PressureMonitor> monitor;
    monitor.emplace();
    ASSERT_TRUE(monitor->configure({.tag = tag, .watches_machine = false}));
    ASSERT_TRUE(monitor->start_worker());
    const int result = run_in_child([&] {
        // Nobody is left to be woken.
        if (test::charge(tag, 700'000) != Status::ok) return 1;
        monitor.reset();
        PressureMonitor own;
        if (!own.configure({.tag = tag, .watches_machine = false})) return 2;
        return own.poll().level == PressureLevel::low ? 0 : 3;
    });
    EXPECT_EQ(result, 0);
    monitor->stop_worker();
    EXPECT_EQ(use_of(tag).live_bytes, 0U);
}

// Another thread may be starting or stopping it at that moment.
TEST(PressureFork, AMonitorGoesInTheChildWhateverOthersDoWithItsWorker) {
    std::optional<PressureMonitor> monitor;
    monitor.emplace();
    std::atomic<bool> is_over{false};
    std::thread other([&] {
        while (!is_over.load()) {
            EXPECT_TRUE(monitor->start_worker());
            monitor->stop_worker();
        }
    });
    for (int child = 0; child < 50; ++child) {
        EXPECT_EQ(run_in_child([&] {
                      if (monitor->start_worker().status() != Status::busy) return 1;
                      monitor.reset();
                      return 0;
                  }),
                  0);
    }
    is_over.store(true);
    other.join();
}

// Or just writing an event: its place in the ring is free again.
TEST(EventsFork, AChildLosesNoneOfItsOwn) {
    constexpr std::size_t kBatch = 32;
    std::atomic<bool> is_over{false};
    const ObserveEvent event{.kind = ObserveEventKind::soft_budget_passed, .bytes = 1};
    std::thread other([&] {
        while (!is_over.load())
            post_event(event);
    });
    for (int child = 0; child < 100; ++child) {
        EXPECT_EQ(run_in_child([&] {
                      for (std::size_t posted = 0; posted < 2 * detail::kEventSlots; posted += kBatch) {
                          std::uint64_t cursor = event_count();
                          for (std::size_t i = 0; i < kBatch; ++i)
                              post_event(event);
                          std::array<ObserveEvent, kBatch> events;
                          if (read_events(cursor, events).count != kBatch) return 1;
                      }
                      return 0;
                  }),
                  0);
        if (testing::Test::HasFailure()) break;
    }
    is_over.store(true);
    other.join();
}

// A child may go on where its parent was asked for metrics.
TEST(MetricsFork, ASourceMayForkAndTheChildTakesMetrics) {
    static int result = -1;
    const auto id = add_metric_source("forks", [](void*, MetricWriter& writer) noexcept {
        result = run_in_child([] { return remove_metric_source({}).status() == Status::not_found ? 0 : 1; });
        writer.add_level("result", static_cast<std::uint64_t>(result));
    });
    ASSERT_TRUE(id);
    const auto metrics = std::make_unique<MetricsSnapshot>();
    take_metrics(*metrics);
    EXPECT_EQ(result, 0);
    EXPECT_TRUE(remove_metric_source(*id));
    EXPECT_EQ(run_in_child([&] {
                  take_metrics(*metrics);
                  return metrics->source_count == 0 ? 0 : 1;
              }),
              0);
}

// Another thread may be opening an account at that moment.
TEST(LedgerFork, AChildOpensAccountsBesideOneWhoDid) {
    // The first hooks of a process cannot know of a fork that has begun.
    ASSERT_EQ(test::charge(fresh_tag(), 10), Status::ok);
    std::atomic<bool> is_over{false};
    std::thread opener([&] {
        for (int i = 0; i < 250; ++i)
            EXPECT_EQ(test::charge(fresh_tag(), 10), Status::ok);
        is_over.store(true);
    });
    int children = 0;
    do {
        EXPECT_EQ(run_in_child([&] { return test::charge(fresh_tag(), 10) == Status::ok ? 0 : 1; }), 0);
        ++children;
    } while (!is_over.load() && children < 200);
    opener.join();
}

}  // namespace
}  // namespace ouro
