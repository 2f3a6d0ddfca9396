// What the module takes from the system when it is first used, refused: each time in a process of its own,
// for it is taken once.
#include "charges.hpp"
#include "pressure_support.hpp"

#include <ouro/observe/budget.hpp>
#include <ouro/observe/ledger.hpp>
#include <ouro/observe/pressure.hpp>
#include <ouro/observe/profiler.hpp>
#include <ouro/os/fault_injection.hpp>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>

#if defined(OURO_FAULT_INJECTION)
namespace ouro {
namespace {

namespace inject = os::fault_injection;
using os::OsCall;

// Whether all is as ever in a process whose first use failed.
bool works(Tag tag) {
    if (!set_budget(tag, {.hard_bytes = 1'000})) return false;
    if (test::charge(tag, 1'000) != Status::ok) return false;
    if (test::charge(tag, 1) != Status::budget_exceeded) return false;
    test::refund(tag, 1'000);
    return use_of(tag).live_bytes == 0 && check_ledger() == Status::ok;
}

enum Outcome : int { kSurvived, kNothingFailed, kWrongStatus, kBroken };

Outcome use_first(OsCall call, std::uint64_t nth) {
    inject::fail_nth(call, nth, ENOMEM);
    const Tag tag = test::fresh_tag();
    const Status charged = test::charge(tag, 100);
    const Status started = start_profiler({}).status();
    const bool has_failed = inject::has_fired();
    inject::clear();
    for (const Status status : {charged, started}) {
        if (status != Status::ok && status != Status::out_of_memory) return kWrongStatus;
    }
    if (charged == Status::ok) test::refund(tag, 100);
    if (started != Status::ok && !start_profiler({})) return kBroken;
    if (!works(tag)) return kBroken;
    return has_failed ? kSurvived : kNothingFailed;
}

class FirstUseFailure : public testing::TestWithParam<OsCall> {
protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
    void TearDown() override { GTEST_FLAG_SET(death_test_style, "fast"); }
};

TEST_P(FirstUseFailure, IsAStatusAndTheNextUseWorks) {
    int failures = 0;
    for (std::uint64_t nth = 1; nth < 20; ++nth) {
        SCOPED_TRACE(testing::Message() << "number " << nth);
        int outcome = -1;
        const auto keep = [&](int state) {
            outcome = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
            return true;
        };
        EXPECT_EXIT(std::_Exit(use_first(GetParam(), nth)), keep, "");
        if (outcome == kNothingFailed) break;
        ASSERT_EQ(outcome, kSurvived);
        ++failures;
    }
    EXPECT_GT(failures, 0) << "nothing was tested";
}

INSTANTIATE_TEST_SUITE_P(Calls, FirstUseFailure,
                         testing::Values(OsCall::map_memory, OsCall::protect_memory, OsCall::make_thread_key,
                                         OsCall::set_thread_value, OsCall::register_fork_hooks,
                                         OsCall::process_barrier),
                         [](const auto& tested) { return std::string(inject::name_of(tested.param)); });

TEST(PressureFailure, AWorkerThatDoesNotStartIsAStatus) {
    PressureMonitor monitor;
    inject::fail_nth(OsCall::start_thread, 1, EAGAIN);
    const Status status = monitor.start_worker().status();
    EXPECT_TRUE(inject::has_fired());
    inject::clear();
    EXPECT_NE(status, Status::ok);
    monitor.stop_worker();
    EXPECT_TRUE(monitor.start_worker());
    EXPECT_EQ(monitor.start_worker().status(), Status::busy);
    monitor.stop_worker();
}

}  // namespace
}  // namespace ouro
#endif
