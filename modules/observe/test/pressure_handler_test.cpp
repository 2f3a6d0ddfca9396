#include "charges.hpp"
#include "pressure_support.hpp"

#include <ouro/observe/events.hpp>
#include <ouro/observe/pressure_log.hpp>

#include <array>

namespace ouro {
namespace {

using test::Cache;
using test::fresh_tag;
using test::PressureTest;
using test::read_from;

using enum PressureLevel;
using Levels = std::vector<PressureLevel>;

std::vector<PressureRecord> log_since(std::uint64_t cursor) {
    std::vector<PressureRecord> records(detail::kPressureSlots);
    records.resize(read_pressure_log(cursor, records).count);
    return records;
}

TEST_F(PressureTest, LowerPrioritiesGoFirstAndTheRestIsSpared) {
    Cache cheap(tag_);
    Cache precious(tag_);
    ASSERT_TRUE(monitor_.add(precious, 20, "precious"));
    ASSERT_TRUE(monitor_.add(cheap, -5, "cheap"));
    precious.fill(300'000);
    cheap.fill(300'000);
    EXPECT_EQ(level_at(10'000), none);
    EXPECT_EQ(cheap.levels, Levels{low});
    // Down to where the level is left, and no further.
    EXPECT_EQ(cheap.wanted[0], 610'000U - 550'000U + 1);
    EXPECT_TRUE(precious.levels.empty());
    EXPECT_EQ(monitor_.report().used_bytes, 549'999U);
    EXPECT_EQ(monitor_.stats().reliefs, 1U);
}

TEST_F(PressureTest, WhatOneDoesNotFreeIsAskedOfTheNext) {
    Cache first(tag_);
    Cache second(tag_);
    Cache third(tag_);
    ASSERT_TRUE(monitor_.add(first, 1));
    ASSERT_TRUE(monitor_.add(second, 1));
    ASSERT_TRUE(monitor_.add(third, 2));
    first.fill(20'000);
    second.fill(100'000);
    third.fill(100'000);
    EXPECT_EQ(level_at(400'000), none);
    EXPECT_EQ(first.wanted, std::vector<std::size_t>{70'001});
    EXPECT_EQ(second.wanted, std::vector<std::size_t>{50'001});
    EXPECT_TRUE(third.wanted.empty());
}

TEST_F(PressureTest, WhenAllWereAskedTheyAreAskedAsForTheNextLevel) {
    Cache careful(tag_);
    Cache useless(tag_);
    careful.from = high;
    ASSERT_TRUE(monitor_.add(careful, 1));
    ASSERT_TRUE(monitor_.add(useless, 2));
    careful.fill(600'000);
    EXPECT_EQ(level_at(10'000), none);
    EXPECT_EQ(careful.levels, (Levels{low, medium, high}));
    EXPECT_EQ(useless.levels, (Levels{low, medium}));
}

TEST_F(PressureTest, EscalationEndsAtCriticalAndThenPauses) {
    Cache useless(tag_);
    ASSERT_TRUE(monitor_.add(useless, 1));
    EXPECT_EQ(level_at(600'000), low);
    EXPECT_EQ(useless.levels, (Levels{low, medium, high, critical}));
    EXPECT_EQ(monitor_.stats().failures, 1U);
    // No storm, however often somebody polls.
    for (int i = 0; i < 100; ++i)
        monitor_.poll();
    EXPECT_EQ(useless.levels.size(), 4U);
    pass_ns(options_.first_pause_ns - 1);
    monitor_.poll();
    EXPECT_EQ(useless.levels.size(), 4U);
    pass_ns(1);
    monitor_.poll();
    EXPECT_EQ(useless.levels.size(), 8U);
    // Twice as long the next time, up to the longest.
    pass_ns(options_.first_pause_ns);
    monitor_.poll();
    EXPECT_EQ(useless.levels.size(), 8U);
    for (int i = 0; i < 20; ++i) {
        pass_ns(options_.longest_pause_ns);
        monitor_.poll();
    }
    EXPECT_EQ(useless.levels.size(), 8U + 20U * 4U);
}

TEST_F(PressureTest, AHigherLevelEndsThePause) {
    Cache small(tag_);
    small.most = 1;
    small.fill(1'000);
    ASSERT_TRUE(monitor_.add(small, 1));
    EXPECT_EQ(level_at(600'000), low);
    EXPECT_EQ(small.levels, (Levels{low, medium, high, critical}));
    EXPECT_EQ(level_at(700'000), low);
    EXPECT_EQ(small.levels.size(), 4U);
    EXPECT_EQ(level_at(800'000), medium);
    EXPECT_EQ(small.levels.size(), 7U);
}

TEST_F(PressureTest, ANewHandlerEndsThePause) {
    EXPECT_EQ(level_at(600'000), low);
    Cache late(tag_);
    late.fill(100'000);
    monitor_.poll();
    ASSERT_TRUE(monitor_.add(late, 1));
    EXPECT_EQ(level_at(500'000), none);
    EXPECT_EQ(late.levels, Levels{low});
    ASSERT_TRUE(monitor_.remove(late));
}

// One that frees nothing is left alone, although others bring the level down each time.
TEST_F(PressureTest, AUselessHandlerIsNotCalledAtEachCrossing) {
    Cache useless(tag_);
    Cache useful(tag_);
    ASSERT_TRUE(monitor_.add(useless, 1));
    ASSERT_TRUE(monitor_.add(useful, 2));
    for (int i = 0; i < 10; ++i) {
        useful.fill(610'000 - useful.held());
        EXPECT_EQ(monitor_.poll().level, none);
    }
    EXPECT_EQ(useful.levels.size(), 10U);
    EXPECT_EQ(useless.levels.size(), 1U);
    pass_ns(options_.first_pause_ns);
    useful.fill(610'000 - useful.held());
    monitor_.poll();
    EXPECT_EQ(useless.levels.size(), 2U);
}

TEST_F(PressureTest, NonsenseIsWrittenDownAndNotBelieved) {
    Cache liar(tag_);
    Cache honest(tag_);
    liar.says = ~std::size_t{0};
    honest.fill(610'000);
    ASSERT_TRUE(monitor_.add(liar, 1, "liar"));
    ASSERT_TRUE(monitor_.add(honest, 2, "honest"));
    const std::uint64_t before = pressure_log_count();
    EXPECT_EQ(monitor_.poll().level, none);
    const auto log = log_since(before);
    ASSERT_EQ(log.size(), 2U);
    EXPECT_EQ(log[0].name(), "liar");
    EXPECT_EQ(log[0].reported_bytes, ~std::size_t{0});
    EXPECT_EQ(log[0].ledger_bytes, 0U);
    EXPECT_EQ(log[1].name(), "honest");
    EXPECT_EQ(log[1].reported_bytes, 60'001U);
    EXPECT_EQ(log[1].ledger_bytes, 60'001U);
    EXPECT_EQ(monitor_.stats().freed_bytes, 60'001U);
    EXPECT_GE(monitor_.stats().reported_bytes, ~std::size_t{0});
    // Again, so that the sum would overflow.
    pass_ns(options_.longest_pause_ns);
    honest.fill(610'000 - honest.held());
    EXPECT_EQ(monitor_.poll().level, none);
    EXPECT_GE(monitor_.stats().reported_bytes, ~std::size_t{0});
}

// A handler that ends its work later than the test's clock stands still.
class Slow final : public PressureHandler {
public:
    std::size_t relieve(PressureLevel, std::size_t) noexcept override {
        test::g_pressure_now += 5'000;
        return 7;
    }
};

TEST_F(PressureTest, TheLogSaysWhatWasDone) {
    Slow slow;
    ASSERT_TRUE(monitor_.add(slow, 1, "a name that is longer than the log has room for, cut somewhere"));
    const std::uint64_t before = pressure_log_count();
    std::uint64_t cursor = event_count();
    use(960'000);
    const std::uint64_t now = test::g_pressure_now;
    monitor_.poll();
    const auto log = log_since(before);
    ASSERT_EQ(log.size(), 1U);
    EXPECT_EQ(log[0].number, before);
    EXPECT_EQ(log[0].time_ns, now);
    EXPECT_EQ(log[0].duration_ns, 5'000U);
    EXPECT_EQ(log[0].tag, tag_);
    EXPECT_EQ(log[0].level, critical);
    EXPECT_EQ(log[0].source, PressureSource::budget);
    EXPECT_EQ(log[0].wanted_bytes, 60'001U);
    EXPECT_EQ(log[0].reported_bytes, 7U);
    EXPECT_EQ(log[0].used_bytes, 960'000U);
    EXPECT_EQ(log[0].name().size(), detail::kHandlerNameBytes);
    EXPECT_EQ(monitor_.stats().handler_ns, 5'000U);
    std::array<ObserveEvent, 8> events;
    ASSERT_EQ(read_events(cursor, events).count, 2U);
    EXPECT_EQ(events[1].kind, ObserveEventKind::pressure_handled);
    EXPECT_EQ(events[1].level, static_cast<std::uint8_t>(critical));
    EXPECT_EQ(events[1].bytes, 0U);
    EXPECT_EQ(events[1].limit_bytes, 60'001U);
}

TEST_F(PressureTest, TheOldestOfTheLogAreLostAndCounted) {
    Cache useless(tag_);
    ASSERT_TRUE(monitor_.add(useless, 1));
    use(960'000);
    std::uint64_t cursor = pressure_log_count();
    for (std::size_t i = 0; i < detail::kPressureSlots + 3; ++i) {
        monitor_.poll();
        pass_ns(options_.longest_pause_ns);
    }
    std::array<PressureRecord, 2> records;
    const PressureLogRead read = read_pressure_log(cursor, records);
    EXPECT_EQ(read.lost, 3U);
    ASSERT_EQ(read.count, 2U);
    EXPECT_EQ(records[1].number, records[0].number + 1);
    EXPECT_EQ(read_pressure_log(cursor, {}).count, 0U);
}

TEST_F(PressureTest, LatencyIsMeasuredFromTheCrossing) {
    EXPECT_EQ(monitor_.stats().latency.median_ns(), 0U);
    Cache cache(tag_);
    ASSERT_TRUE(monitor_.add(cache, 1));
    for (int i = 0; i < 3; ++i) {
        cache.fill(610'000 - cache.held());
        monitor_.poll();
    }
    const PressureLatency latency = monitor_.stats().latency;
    EXPECT_EQ(latency.count, 3U);
    EXPECT_LE(latency.min_ns, latency.median_ns());
    EXPECT_LE(latency.median_ns(), latency.quantile_ns(99));
    EXPECT_LE(latency.quantile_ns(99), latency.max_ns);
    EXPECT_EQ(latency.quantile_ns(100), latency.max_ns);
}

TEST(PressureLatency, QuantilesComeFromTheBuckets) {
    PressureLatency latency{.count = 100, .min_ns = 5, .max_ns = 5'000};
    latency.buckets[2] = 50;
    latency.buckets[6] = 49;
    latency.buckets[12] = 1;
    EXPECT_EQ(latency.quantile_ns(0), 7U);
    EXPECT_EQ(latency.median_ns(), 7U);
    EXPECT_EQ(latency.quantile_ns(51), 127U);
    EXPECT_EQ(latency.quantile_ns(99), 127U);
    EXPECT_EQ(latency.quantile_ns(100), 5'000U);
}

TEST_F(PressureTest, TheMachinesPressureIsJudgedByTheMachine) {
    MachineMemory machine;
    machine.group = {.used_bytes = 960, .limit_bytes = 1'000};
    options_.watches_machine = true;
    options_.read_machine = read_from;
    options_.machine_context = &machine;
    ASSERT_TRUE(monitor_.configure(options_));
    // Gives memory to the system that no ledger knows of.
    class Purge final : public PressureHandler {
    public:
        explicit Purge(MemoryUse& use) noexcept : use_(use) {}
        std::size_t relieve(PressureLevel, std::size_t bytes_wanted) noexcept override {
            use_.used_bytes -= bytes_wanted;
            return bytes_wanted;
        }

    private:
        MemoryUse& use_;
    } purge(machine.group);
    Cache ledger_only(tag_);
    ledger_only.fill(1'000);
    ASSERT_TRUE(monitor_.add(ledger_only, 1));
    ASSERT_TRUE(monitor_.add(purge, 2));
    const std::uint64_t before = pressure_log_count();
    EXPECT_EQ(monitor_.poll().level, high);
    const auto log = log_since(before);
    ASSERT_EQ(log.size(), 2U);
    EXPECT_EQ(log[0].source, PressureSource::group);
    EXPECT_EQ(log[0].ledger_bytes, 61U);
    EXPECT_EQ(log[1].reported_bytes, 61U);
    EXPECT_EQ(log[1].ledger_bytes, 0U);
    EXPECT_EQ(monitor_.stats().freed_bytes, 61U);
    EXPECT_EQ(machine.group.used_bytes, 899U);
    // On to none, a level a poll.
    for (int i = 0; i < 3; ++i)
        monitor_.poll();
    EXPECT_EQ(monitor_.report().level, none);
}

TEST_F(PressureTest, HandlersAreAddedOnceAndUpToACapacity) {
    std::vector<Cache> caches(kMaxPressureHandlers + 1, Cache(tag_));
    for (std::size_t i = 0; i < kMaxPressureHandlers; ++i)
        ASSERT_TRUE(monitor_.add(caches[i], 0));
    EXPECT_EQ(monitor_.add(caches[0], 1).status(), Status::bad_argument);
    EXPECT_EQ(monitor_.add(caches.back(), 1).status(), Status::capacity_exhausted);
    EXPECT_EQ(monitor_.remove(caches.back()).status(), Status::not_found);
    ASSERT_TRUE(monitor_.remove(caches[5]));
    ASSERT_TRUE(monitor_.add(caches.back(), 1));
}

// Does what it is told to from inside.
template <class Work>
class Inside final : public PressureHandler {
public:
    explicit Inside(Work work) : work_(work) {}
    std::size_t relieve(PressureLevel level, std::size_t) noexcept override {
        ++calls;
        return work_(level);
    }
    int calls = 0;

private:
    Work work_;
};

TEST_F(PressureTest, AHandlerMayAllocateAndPoll) {
    Inside handler([&](PressureLevel) noexcept -> std::size_t {
        EXPECT_EQ(test::charge(tag_, 50'000), Status::ok);
        EXPECT_EQ(monitor_.poll().level, low);
        EXPECT_EQ(monitor_.configure(options_).status(), Status::busy);
        test::refund(tag_, 50'000);
        return 0;
    });
    ASSERT_TRUE(monitor_.add(handler, 1));
    EXPECT_EQ(level_at(610'000), low);
    EXPECT_EQ(handler.calls, 4);
}

TEST_F(PressureTest, AHandlerThatMakesItWorseIsAskedMoreUrgently) {
    Levels levels;
    Inside handler([&](PressureLevel level) noexcept -> std::size_t {
        levels.push_back(level);
        if (levels.size() == 1) {
            EXPECT_EQ(test::charge(tag_, 300'000), Status::ok);
        }
        return 0;
    });
    ASSERT_TRUE(monitor_.add(handler, 1));
    EXPECT_EQ(level_at(610'000), high);
    EXPECT_EQ(levels, (Levels{low, critical}));
    test::refund(tag_, 300'000);
}

TEST_F(PressureTest, AHandlerMayAddAndRemoveOthersAndItself) {
    Cache added(tag_);
    Cache removed(tag_);
    added.fill(305'000);
    removed.fill(305'000);
    PressureHandler* self = nullptr;
    Inside handler([&](PressureLevel) noexcept -> std::size_t {
        EXPECT_TRUE(monitor_.add(added, 5, "added"));
        EXPECT_TRUE(monitor_.remove(removed));
        EXPECT_TRUE(monitor_.remove(*self));
        return 0;
    });
    self = &handler;
    ASSERT_TRUE(monitor_.add(handler, 1));
    ASSERT_TRUE(monitor_.add(removed, 2));
    EXPECT_EQ(monitor_.poll().level, none);
    EXPECT_EQ(handler.calls, 1);
    EXPECT_EQ(added.levels, Levels{low});
    EXPECT_TRUE(removed.levels.empty());
    EXPECT_EQ(monitor_.remove(handler).status(), Status::not_found);
}

// Each one puts itself behind all others again: a poll comes to an end all the same.
TEST_F(PressureTest, AListThatNeverEndsIsLeft) {
    PressureHandler* self = nullptr;
    Inside handler([&](PressureLevel) noexcept -> std::size_t {
        EXPECT_TRUE(monitor_.remove(*self));
        EXPECT_TRUE(monitor_.add(*self, 1));
        return 0;
    });
    self = &handler;
    ASSERT_TRUE(monitor_.add(handler, 1));
    EXPECT_EQ(level_at(610'000), low);
    EXPECT_EQ(handler.calls, 4 * static_cast<int>(kMaxPressureHandlers));
}

}  // namespace
}  // namespace ouro
