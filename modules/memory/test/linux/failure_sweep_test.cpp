// Every call of the operating system that a strategy makes fails once, at its creation, at its use and when
// memory goes back, alone and below others: what was asked for has its status, or is not done, no byte is
// lost, no mapping stays, and the resource goes on.
#include "composition.hpp"
#include "mapping_table.hpp"
#include "resource_model.hpp"

#include <ouro/os/fault_injection.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace {

using ouro::Status;
using ouro::os::OsCall;
using ouro::os::testing_support::NoMappingLeak;
using ouro::testing_support::campaign_table;
using ouro::testing_support::Composition;
using ouro::testing_support::composition_label;
using ouro::testing_support::ResourceModel;
namespace inject = ouro::os::fault_injection;

constexpr std::size_t kBytes = std::size_t{2} << 20;
constexpr std::uint64_t kSeed = 17;
constexpr std::uint64_t kEndlessUses = 2000;

// Asked once a process, so that they can only fail before anything else was used.
constexpr std::array kOnceCalls = {OsCall::make_thread_key, OsCall::set_thread_value,
                                   OsCall::register_fork_hooks, OsCall::process_barrier};

struct Outcome {
    bool is_built = false;
    bool has_fired = false;
};

void make_steps(ResourceModel& model, int count) {
    for (int step = 0; step < count && !testing::Test::HasFailure(); ++step)
        model.step();
}

// Allocates and frees, and returns memory to the system again and again, as a resource can while blocks live
// and once none does.
void use(Composition& built, ResourceModel& model) {
    constexpr int kRounds = 4;
    // Enough for a frame to give memory back.
    constexpr int kResets = 5;
    for (int round = 0; round < kRounds; ++round) {
        make_steps(model, 100);
        built.give_back();
    }
    model.verify_all();
    model.free_all();
    built.give_back();
    for (int reset = 0; reset < kResets; ++reset)
        built.start_over();
    make_steps(model, 50);
}

// The end of the resource is not part of it: what cannot be unmapped there has nobody left to be told.
Outcome build_and_use(const std::string& text, OsCall call, std::uint64_t nth) {
    Outcome outcome;
    inject::fail_nth(call, nth, ENOMEM);
    Composition built(text, kBytes, Composition::WhenRefused::stay_unbuilt);
    outcome.is_built = built.is_built();
    if (!built.is_built()) {
        outcome.has_fired = inject::has_fired();
        inject::clear();
        return outcome;
    }
    ResourceModel::Limits limits = built.limits();
    limits.rare_size = std::min(built.traits().max_size, kBytes / 8);
    ResourceModel model(built.resource(), limits, kSeed);
    use(built, model);
    outcome.has_fired = inject::has_fired();
    inject::clear();
    EXPECT_EQ(built.resource().check(), Status::ok);
    model.verify_all();
    make_steps(model, 100);
    model.free_all();
    EXPECT_EQ(built.resource().check(), Status::ok);
    const auto after = built.resource().allocate(64, 16);
    EXPECT_TRUE(after || !built.resource().info().frees_blocks);
    if (after) built.resource().deallocate(*after, 16);
    return outcome;
}

// Returns how often it failed.
std::uint64_t fail_each_use(const std::string& text, OsCall call, bool is_warm) {
    for (std::uint64_t nth = 1; nth < kEndlessUses; ++nth) {
        SCOPED_TRACE(text + ": " + std::string(inject::name_of(call)) + ", use " + std::to_string(nth));
        NoMappingLeak::mark();
        const Outcome outcome = build_and_use(text, call, nth);
        if (is_warm) {
            EXPECT_EQ(NoMappingLeak::difference(), "");
        }
        EXPECT_TRUE(outcome.is_built || outcome.has_fired) << "refused although nothing failed";
        if (testing::Test::HasFailure() || !outcome.has_fired) return nth - 1;
    }
    ADD_FAILURE() << "the calls never end";
    return kEndlessUses;
}

class FailureSweep : public testing::TestWithParam<std::string> {
protected:
    void TearDown() override { inject::clear(); }
};

TEST_P(FailureSweep, EveryCallThatFailsIsAStatusAndLeavesNothing) {
    for (const OsCall call : kOnceCalls)
        (void)fail_each_use(GetParam(), call, false);
    std::uint64_t failures = 0;
    for (unsigned number = 0; number < ouro::os::kOsCallCount && !HasFailure(); ++number)
        failures += fail_each_use(GetParam(), static_cast<OsCall>(number), true);
    EXPECT_GT(failures, 0U) << "no call was made: nothing was tested";
}

INSTANTIATE_TEST_SUITE_P(Compositions, FailureSweep, testing::ValuesIn(campaign_table()),
                         [](const testing::TestParamInfo<std::string>& test) {
                             return composition_label(test.param);
                         });

}  // namespace
