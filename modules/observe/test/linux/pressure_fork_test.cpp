#include "charges.hpp"
#include "child_process.hpp"
#include "pressure_support.hpp"

#include <optional>

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

}  // namespace
}  // namespace ouro
