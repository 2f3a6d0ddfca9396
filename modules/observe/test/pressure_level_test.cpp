#include "pressure_support.hpp"

#include <ouro/observe/events.hpp>

#include <array>
#include <optional>

namespace ouro {
namespace {

using test::fresh_tag;
using test::PressureTest;
using test::read_from;

using enum PressureLevel;

TEST_F(PressureTest, LevelsBeginWhereTheOptionsSay) {
    EXPECT_EQ(level_at(0), none);
    EXPECT_EQ(level_at(599'999), none);
    EXPECT_EQ(level_at(600'000), low);
    EXPECT_EQ(level_at(799'999), low);
    EXPECT_EQ(level_at(800'000), medium);
    EXPECT_EQ(level_at(900'000), high);
    EXPECT_EQ(level_at(949'999), high);
    EXPECT_EQ(level_at(950'000), critical);
    EXPECT_EQ(level_at(1'000'000), critical);
    const PressureReport report = monitor_.report();
    EXPECT_EQ(report.source, PressureSource::budget);
    EXPECT_EQ(report.used_bytes, 1'000'000U);
    EXPECT_EQ(report.limit_bytes, kBudget);
}

TEST_F(PressureTest, LevelsAreLeftBelowTheHysteresis) {
    EXPECT_EQ(level_at(950'000), critical);
    EXPECT_EQ(level_at(900'000), critical);
    EXPECT_EQ(level_at(899'999), high);
    EXPECT_EQ(level_at(850'000), high);
    EXPECT_EQ(level_at(849'999), medium);
    EXPECT_EQ(level_at(750'000), medium);
    EXPECT_EQ(level_at(749'999), low);
    EXPECT_EQ(level_at(550'000), low);
    EXPECT_EQ(level_at(549'999), none);
    EXPECT_EQ(level_at(599'999), none);
    // Several at once.
    EXPECT_EQ(level_at(1'000'000), critical);
    EXPECT_EQ(level_at(10), none);
}

TEST_F(PressureTest, ThresholdsAndHysteresisCanBeSet) {
    options_.thresholds = {.low_percent = 10,
                           .medium_percent = 20,
                           .high_percent = 30,
                           .critical_percent = 30,
                           .hysteresis_percent = 0};
    ASSERT_TRUE(monitor_.configure(options_));
    EXPECT_EQ(level_at(100'000), low);
    EXPECT_EQ(level_at(99'999), none);
    EXPECT_EQ(level_at(200'000), medium);
    EXPECT_EQ(level_at(300'000), critical);
}

TEST_F(PressureTest, BadOptionsChangeNothing) {
    const auto fails = [&](auto change) {
        PressureOptions options = options_;
        change(options);
        EXPECT_EQ(monitor_.configure(options).status(), Status::bad_argument);
    };
    fails([](PressureOptions& options) { options.thresholds.low_percent = 81; });
    fails([](PressureOptions& options) { options.thresholds.high_percent = 96; });
    fails([](PressureOptions& options) { options.thresholds.critical_percent = 101; });
    fails([](PressureOptions& options) { options.thresholds.hysteresis_percent = 60; });
    fails([](PressureOptions& options) { options.tag = Tag::from_id(kMaxTags - 1); });
    fails([](PressureOptions& options) { options.machine_interval_ns = 0; });
    fails([](PressureOptions& options) { options.first_pause_ns = 0; });
    fails([](PressureOptions& options) { options.longest_pause_ns = 1; });
    fails([](PressureOptions& options) { options.read_machine = nullptr; });
    fails([](PressureOptions& options) { options.clock = nullptr; });
    fails([](PressureOptions& options) { options.stalls.some_percent = 0; });
    EXPECT_EQ(level_at(600'000), low);
}

TEST_F(PressureTest, WithoutAHardBudgetThereIsNoPressure) {
    ASSERT_TRUE(set_budget(tag_, {}));
    EXPECT_EQ(level_at(10'000'000), none);
    use(0);
    // The smallest of budgets is full with its only byte.
    ASSERT_TRUE(set_budget(tag_, {.hard_bytes = 1}));
    EXPECT_EQ(level_at(0), none);
    EXPECT_EQ(level_at(1), critical);
}

TEST_F(PressureTest, ABudgetThatChangesIsNoticed) {
    EXPECT_EQ(level_at(500'000), none);
    ASSERT_TRUE(set_budget(tag_, {.hard_bytes = 500'000}));
    EXPECT_EQ(monitor_.poll().level, critical);
    ASSERT_TRUE(set_budget(tag_, {.hard_bytes = 600'000}));
    EXPECT_EQ(monitor_.poll().level, medium);
    ASSERT_TRUE(set_budget(tag_, {}));
    EXPECT_EQ(monitor_.poll().level, none);
    ASSERT_TRUE(set_budget(tag_, {.hard_bytes = 550'000}));
    EXPECT_EQ(monitor_.poll().level, high);
}

// While nothing has happened, a poll does not even look.
TEST_F(PressureTest, PollsLookOnlyWhenTheLedgerHasTold) {
    EXPECT_EQ(level_at(0), none);
    const PressureStats before = monitor_.stats();
    for (std::size_t bytes = 1'000; bytes < 600'000; bytes += 1'000)
        EXPECT_EQ(level_at(bytes), none);
    EXPECT_EQ(monitor_.stats().looks, before.looks);
    EXPECT_EQ(level_at(600'000), low);
    EXPECT_EQ(monitor_.stats().looks, before.looks + 1);
}

// However long nobody looks.
TEST_F(PressureTest, ACrossingIsToldOnce) {
    EXPECT_EQ(level_at(0), none);
    const std::uint32_t before = detail::alarm_count();
    for (std::size_t bytes = 0; bytes <= kBudget; bytes += 1'000)
        use(bytes);
    EXPECT_EQ(detail::alarm_count(), before + 1);
    use(0);
    use(kBudget);
    EXPECT_EQ(detail::alarm_count(), before + 1);
    EXPECT_EQ(monitor_.poll().level, critical);
    // Looked at, and nothing higher to tell.
    use(0);
    use(kBudget);
    EXPECT_EQ(detail::alarm_count(), before + 1);
}

TEST_F(PressureTest, TimesBeyondAllTimeNeverCome) {
    options_.first_pause_ns = ~std::uint64_t{0};
    options_.longest_pause_ns = ~std::uint64_t{0};
    ASSERT_TRUE(monitor_.configure(options_));
    test::Cache useless(tag_);
    ASSERT_TRUE(monitor_.add(useless, 1));
    EXPECT_EQ(level_at(950'000), critical);
    pass_ns(options_.first_pause_ns / 2);
    monitor_.poll();
    EXPECT_EQ(useless.levels.size(), 1U);
}

TEST_F(PressureTest, EveryChangeOfLevelIsAnEvent) {
    std::uint64_t cursor = event_count();
    level_at(800'000);
    level_at(800'001);
    level_at(0);
    std::array<ObserveEvent, 8> events;
    ASSERT_EQ(read_events(cursor, events).count, 2U);
    EXPECT_EQ(events[0].kind, ObserveEventKind::pressure_changed);
    EXPECT_EQ(events[0].level, static_cast<std::uint8_t>(medium));
    EXPECT_EQ(events[0].tag, tag_);
    EXPECT_EQ(events[0].bytes, 800'000U);
    EXPECT_EQ(events[0].limit_bytes, kBudget);
    EXPECT_EQ(events[1].level, static_cast<std::uint8_t>(none));
}

// One alarm in the ledger serves all who watch a tag, each with its own thresholds.
TEST_F(PressureTest, SeveralMonitorsMayWatchOneTag) {
    std::optional<PressureMonitor> other;
    other.emplace();
    PressureOptions early = options_;
    early.thresholds.low_percent = 30;
    ASSERT_TRUE(other->configure(early));
    EXPECT_EQ(other->poll().level, none);
    EXPECT_EQ(level_at(300'000), none);
    EXPECT_EQ(other->poll().level, low);
    EXPECT_EQ(level_at(600'000), low);
    use(800'000);
    EXPECT_EQ(other->poll().level, medium);
    EXPECT_EQ(monitor_.poll().level, medium);
    other.reset();
    EXPECT_EQ(level_at(900'000), high);
}

class MachinePressureTest : public PressureTest {
protected:
    void SetUp() override {
        PressureTest::SetUp();
        machine_.group = {.used_bytes = 0, .limit_bytes = 1'000};
        machine_.system = {.used_bytes = 0, .limit_bytes = 100'000};
        options_.watches_machine = true;
        options_.read_machine = read_from;
        options_.machine_context = &machine_;
        ASSERT_TRUE(monitor_.configure(options_));
    }
    PressureReport poll_later() {
        pass_ns(options_.machine_interval_ns);
        return monitor_.poll();
    }

    MachineMemory machine_;
};

TEST_F(MachinePressureTest, TheWorstSourceCounts) {
    EXPECT_EQ(monitor_.poll().level, none);
    machine_.group.used_bytes = 850;
    PressureReport report = poll_later();
    EXPECT_EQ(report.level, medium);
    EXPECT_EQ(report.source, PressureSource::group);
    EXPECT_EQ(report.used_bytes, 850U);
    EXPECT_EQ(report.limit_bytes, 1'000U);
    machine_.system.used_bytes = 96'000;
    report = poll_later();
    EXPECT_EQ(report.level, critical);
    EXPECT_EQ(report.source, PressureSource::system);
    machine_.system.used_bytes = 0;
    use(900'000);
    report = poll_later();
    EXPECT_EQ(report.level, high);
    EXPECT_EQ(report.source, PressureSource::budget);
    use(0);
    machine_.group.used_bytes = 0;
    EXPECT_EQ(poll_later().level, none);
}

TEST_F(MachinePressureTest, TheMachineIsAskedNoMoreOftenThanItsInterval) {
    EXPECT_EQ(monitor_.poll().level, none);
    machine_.group.used_bytes = 1'000;
    EXPECT_EQ(monitor_.poll().level, none);
    pass_ns(options_.machine_interval_ns - 1);
    EXPECT_EQ(monitor_.poll().level, none);
    pass_ns(1);
    EXPECT_EQ(monitor_.poll().level, critical);
}

TEST_F(MachinePressureTest, StallsMakeItWorseButAreNoReasonOnTheirOwn) {
    machine_.some_stalls_percent = 100;
    machine_.full_stalls_percent = 100;
    EXPECT_EQ(poll_later().level, none);
    machine_.group.used_bytes = 600;
    PressureReport report = poll_later();
    EXPECT_EQ(report.level, high);
    EXPECT_EQ(report.source, PressureSource::stalls);
    EXPECT_EQ(report.limit_bytes, 1'000U);
    // They have a hysteresis of their own.
    machine_.full_stalls_percent = 2.5;
    EXPECT_EQ(poll_later().level, high);
    machine_.full_stalls_percent = 2;
    machine_.some_stalls_percent = 5;
    EXPECT_EQ(poll_later().level, medium);
    machine_.some_stalls_percent = 4;
    report = poll_later();
    EXPECT_EQ(report.level, low);
    EXPECT_EQ(report.source, PressureSource::group);
    machine_.some_stalls_percent = 9;
    EXPECT_EQ(poll_later().level, low);
    // Nothing is worse than critical.
    machine_.group.used_bytes = 1'000;
    machine_.some_stalls_percent = 50;
    report = poll_later();
    EXPECT_EQ(report.level, critical);
    EXPECT_EQ(report.source, PressureSource::group);
}

TEST_F(MachinePressureTest, AMachineWithoutLimitsGivesNoReason) {
    machine_.group = {.used_bytes = 1'000, .limit_bytes = os::kNoLimit};
    machine_.system = {.used_bytes = 0, .limit_bytes = 0};
    EXPECT_EQ(poll_later().level, none);
    machine_.system = {.used_bytes = ~std::uint64_t{0} - 1, .limit_bytes = ~std::uint64_t{0} - 1};
    EXPECT_EQ(poll_later().level, critical);
}

TEST(MachineMemory, TheRealOneIsPlausible) {
    const MachineMemory machine = read_machine_memory();
    if (machine.system.limit_bytes != os::kNoLimit) {
        EXPECT_GT(machine.system.limit_bytes, 0U);
        EXPECT_LE(machine.system.used_bytes, machine.system.limit_bytes);
    }
    EXPECT_GE(machine.some_stalls_percent, 0);
    EXPECT_LE(machine.some_stalls_percent, 100);
}

TEST(PressureNames, AreTheirEnumerators) {
    EXPECT_EQ(pressure_level_name(PressureLevel::critical), "critical");
    EXPECT_EQ(pressure_level_name(PressureLevel::none), "none");
    EXPECT_EQ(pressure_source_name(PressureSource::stalls), "stalls");
    EXPECT_EQ(pressure_source_name(PressureSource::group), "group");
}

}  // namespace
}  // namespace ouro
