#include "charges.hpp"
#include "pressure_support.hpp"
#include "workers.hpp"

#include <ouro/base/random.hpp>
#include <ouro/observe/metrics.hpp>
#include <ouro/os/futex.hpp>

#include <atomic>
#include <memory>
#include <optional>

namespace ouro {
namespace {

using test::fresh_tag;
using testing_support::run_workers;

constexpr std::size_t kBudget = 1'000'000;

// A word that threads wait on until it has a value.
class Milestone {
public:
    void reach(std::uint32_t value) noexcept {
        word_.store(value);
        os::wake_all(word_);
    }
    void wait_for(std::uint32_t value) noexcept {
        for (std::uint32_t seen = word_.load(); seen < value; seen = word_.load())
            os::wait_on(word_, seen);
    }
    [[nodiscard]] std::uint32_t value() const noexcept { return word_.load(); }

private:
    std::atomic<std::uint32_t> word_{0};
};

template <class Work>
class Handler final : public PressureHandler {
public:
    explicit Handler(Work work) : work_(work) {}
    std::size_t relieve(PressureLevel level, std::size_t bytes_wanted) noexcept override {
        return work_(level, bytes_wanted);
    }

private:
    Work work_;
};

class PressureConcurrent : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(set_budget(tag_, {.hard_bytes = kBudget}));
        options_.tag = tag_;
        options_.watches_machine = false;
        ASSERT_TRUE(monitor_.configure(options_));
    }

    Tag tag_ = fresh_tag();
    PressureOptions options_;
    PressureMonitor monitor_;
};

// Nobody polls but the worker, which nothing but the crossing wakes.
TEST_F(PressureConcurrent, AWorkerIsWokenByTheCrossing) {
    constexpr std::uint32_t kRounds = 50;
    Milestone handled;
    std::atomic<std::size_t> held{0};
    Handler handler([&](PressureLevel, std::size_t) noexcept {
        const std::size_t bytes = held.exchange(0);
        if (bytes != 0) {
            test::refund(tag_, bytes);
            handled.reach(handled.value() + 1);
        }
        return bytes;
    });
    ASSERT_TRUE(monitor_.add(handler, 1));
    ASSERT_TRUE(monitor_.start_worker());
    EXPECT_EQ(monitor_.start_worker().status(), Status::busy);
    for (std::uint32_t round = 1; round <= kRounds; ++round) {
        // Before the charge: the worker may be called within it.
        held.store(610'000);
        ASSERT_EQ(test::charge(tag_, 610'000), Status::ok);
        handled.wait_for(round);
    }
    monitor_.stop_worker();
    EXPECT_GE(monitor_.stats().handler_calls, kRounds);
    EXPECT_GE(monitor_.stats().latency.count, 1U);
    EXPECT_EQ(use_of(tag_).live_bytes, 0U);
    EXPECT_EQ(check_ledger(), Status::ok);
}

TEST_F(PressureConcurrent, ABudgetThatShrinksWakesTheWorker) {
    Milestone called;
    Handler handler([&](PressureLevel, std::size_t) noexcept -> std::size_t {
        called.reach(1);
        return 0;
    });
    ASSERT_TRUE(monitor_.add(handler, 1));
    ASSERT_EQ(test::charge(tag_, 100'000), Status::ok);
    ASSERT_TRUE(monitor_.start_worker());
    ASSERT_TRUE(set_budget(tag_, {.hard_bytes = 110'000}));
    called.wait_for(1);
    monitor_.stop_worker();
    test::refund(tag_, 100'000);
}

TEST_F(PressureConcurrent, MonitorsGoWhileTheirWorkersSleep) {
    for (int round = 0; round < 30; ++round) {
        std::optional<PressureMonitor> sleeper;
        sleeper.emplace();
        ASSERT_TRUE(sleeper->configure(options_));
        ASSERT_TRUE(sleeper->start_worker());
        if (round % 2 == 0) {
            sleeper->stop_worker();
            sleeper->stop_worker();
            ASSERT_TRUE(sleeper->start_worker());
        }
        ASSERT_EQ(test::charge(tag_, 700'000), Status::ok);
        test::refund(tag_, 700'000);
    }
}

TEST_F(PressureConcurrent, SeveralThreadsStartAndStopTheWorker) {
    testing_support::run_workers(4, [&](std::size_t number) {
        for (int i = 0; i < 200; ++i) {
            if (number % 2 == 0) {
                const Status status = monitor_.start_worker().status();
                EXPECT_TRUE(status == Status::ok || status == Status::busy);
            } else {
                monitor_.stop_worker();
            }
        }
    });
    monitor_.stop_worker();
    EXPECT_TRUE(monitor_.start_worker());
}

TEST_F(PressureConcurrent, RemovingWaitsForAHandlerOnAnotherThread) {
    Milestone running;
    Milestone go_on;
    std::atomic<bool> is_over{false};
    Handler handler([&](PressureLevel, std::size_t) noexcept -> std::size_t {
        running.reach(1);
        go_on.wait_for(1);
        is_over.store(true);
        return 0;
    });
    ASSERT_TRUE(monitor_.add(handler, 1));
    ASSERT_TRUE(monitor_.start_worker());
    ASSERT_EQ(test::charge(tag_, 610'000), Status::ok);
    running.wait_for(1);
    run_workers(2, [&](std::size_t number) {
        if (number == 0) {
            EXPECT_TRUE(monitor_.remove(handler));
            EXPECT_TRUE(is_over.load());
        } else {
            // The remover is likely to wait by now; it is right in either case.
            for (int i = 0; i < 10; ++i)
                os::yield_thread();
            go_on.reach(1);
        }
    });
    monitor_.stop_worker();
    test::refund(tag_, 610'000);
}

enum class WhileRunning : std::uint8_t { removes_itself, adds_itself_again };

class PressureRemoval : public PressureConcurrent {
protected:
    void expect_to_wait_for_one_that(WhileRunning does);
};

// Whatever it did to the list while it ran, whoever removes it may destroy it.
void PressureRemoval::expect_to_wait_for_one_that(WhileRunning does) {
    Milestone running;
    Milestone go_on;
    std::atomic<bool> is_over{false};
    PressureHandler* self = nullptr;
    Handler handler([&](PressureLevel, std::size_t) noexcept -> std::size_t {
        if (running.value() != 0) return 0;
        EXPECT_TRUE(monitor_.remove(*self));
        if (does == WhileRunning::adds_itself_again) {
            EXPECT_TRUE(monitor_.add(*self, 2));
        }
        running.reach(1);
        go_on.wait_for(1);
        is_over.store(true);
        return 0;
    });
    self = &handler;
    ASSERT_TRUE(monitor_.add(handler, 1));
    ASSERT_TRUE(monitor_.start_worker());
    ASSERT_EQ(test::charge(tag_, 610'000), Status::ok);
    running.wait_for(1);
    run_workers(2, [&](std::size_t number) {
        if (number == 0) {
            const bool is_there = does == WhileRunning::adds_itself_again;
            EXPECT_EQ(monitor_.remove(handler).status(), is_there ? Status::ok : Status::not_found);
            EXPECT_TRUE(is_over.load());
            EXPECT_EQ(monitor_.remove(handler).status(), Status::not_found);
        } else {
            for (int i = 0; i < 1'000; ++i)
                os::yield_thread();
            go_on.reach(1);
        }
    });
    monitor_.stop_worker();
    test::refund(tag_, 610'000);
}

TEST_F(PressureRemoval, WaitsForAHandlerThatRemovedItself) {
    expect_to_wait_for_one_that(WhileRunning::removes_itself);
}
TEST_F(PressureRemoval, WaitsForAHandlerThatAddedItselfAgain) {
    expect_to_wait_for_one_that(WhileRunning::adds_itself_again);
}

TEST_F(PressureConcurrent, AHandlerMayStopItsWorker) {
    Milestone called;
    Handler handler([&](PressureLevel, std::size_t) noexcept -> std::size_t {
        monitor_.stop_worker();
        EXPECT_EQ(monitor_.start_worker().status(), Status::busy);
        called.reach(1);
        return 0;
    });
    ASSERT_TRUE(monitor_.add(handler, 1));
    ASSERT_TRUE(monitor_.start_worker());
    ASSERT_EQ(test::charge(tag_, 610'000), Status::ok);
    called.wait_for(1);
    ASSERT_TRUE(monitor_.remove(handler));
    // The one that was told to stop makes room for another.
    ASSERT_TRUE(monitor_.start_worker());
    monitor_.stop_worker();
    test::refund(tag_, 610'000);
}

TEST_F(PressureConcurrent, OfSeveralPollersOneRunsTheHandlers) {
    std::atomic<int> inside{0};
    std::atomic<int> most_inside{0};
    std::atomic<std::size_t> held{0};
    Handler handler([&](PressureLevel, std::size_t) noexcept {
        most_inside.store(std::max(most_inside.load(), inside.fetch_add(1) + 1));
        const std::size_t bytes = held.exchange(0);
        if (bytes != 0) test::refund(tag_, bytes);
        for (int i = 0; i < 100; ++i)
            os::spin_pause();
        inside.fetch_sub(1);
        return bytes;
    });
    ASSERT_TRUE(monitor_.add(handler, 1));
    run_workers(4, [&](std::size_t number) {
        for (int i = 0; i < 2'000; ++i) {
            if (number == 0 && held.load() == 0 && test::charge(tag_, 610'000) == Status::ok)
                held.store(610'000);
            monitor_.poll();
        }
    });
    EXPECT_EQ(most_inside.load(), 1);
    // A handler that came between a charge and its note freed nothing, and is not asked again at once.
    const PressureStats stats = monitor_.stats();
    EXPECT_GT(stats.reliefs + stats.failures, 0U);
    if (held.load() != 0) test::refund(tag_, held.load());
    EXPECT_EQ(check_ledger(), Status::ok);
}

// Everything at once: charging, polling, a worker, handlers that come and go, options and budgets that
// change.
TEST_F(PressureConcurrent, AllOfItAtOnceHarmsNothing) {
    constexpr std::uint64_t kSeed = 4'711;
    SCOPED_TRACE(testing::Message() << "seed " << kSeed);
    std::atomic<std::size_t> held{0};
    const auto give_back = [&](PressureLevel, std::size_t wanted) noexcept {
        const std::size_t bytes = held.exchange(0);
        if (bytes != 0) test::refund(tag_, bytes);
        return wanted;
    };
    Handler one(give_back);
    Handler other(give_back);
    options_.first_pause_ns = 1;
    ASSERT_TRUE(monitor_.configure(options_));
    ASSERT_TRUE(monitor_.start_worker());
    run_workers(4, [&](std::size_t number) {
        Random random(kSeed, number);
        for (int i = 0; i < 3'000; ++i) {
            const std::size_t bytes = 1 + random.below(20'000);
            if (test::charge(tag_, bytes) == Status::ok) held.fetch_add(bytes);
            switch (number == 0 ? random.below(6) : 5) {
                case 0:
                    static_cast<void>(monitor_.add(one, 1));
                    break;
                case 1:
                    static_cast<void>(monitor_.remove(one));
                    break;
                case 2:
                    ASSERT_TRUE(monitor_.add(other, 2));
                    ASSERT_TRUE(monitor_.remove(other));
                    break;
                case 3:
                    ASSERT_TRUE(set_budget(tag_, {.hard_bytes = 500'000 + random.below(kBudget)}));
                    break;
                case 4:
                    ASSERT_TRUE(monitor_.configure(options_));
                    break;
                default:
                    static_cast<void>(monitor_.poll());
                    break;
            }
        }
    });
    monitor_.stop_worker();
    EXPECT_EQ(use_of(tag_).live_bytes, held.load());
    if (held.load() != 0) test::refund(tag_, held.load());
    EXPECT_EQ(check_ledger(), Status::ok);
}

struct Told {
    std::atomic<bool> is_alive{true};
    std::atomic<std::uint64_t> calls{0};
};

// A source is not called any more once it was removed, whoever takes metrics.
TEST(MetricsConcurrent, SourcesComeAndGoWhileOthersTakeMetrics) {
    std::atomic<std::size_t> working{2};
    std::atomic<std::uint64_t> calls{0};
    run_workers(4, [&](std::size_t number) {
        if (number >= 2) {
            const auto metrics = std::make_unique<MetricsSnapshot>();
            while (working.load() != 0)
                take_metrics(*metrics);
            return;
        }
        for (int i = 0; i < 300; ++i) {
            Told told;
            const auto id = add_metric_source(
                "told",
                [](void* context, MetricWriter& writer) noexcept {
                    auto& self = *static_cast<Told*>(context);
                    EXPECT_TRUE(self.is_alive.load());
                    writer.add_total("calls", self.calls.fetch_add(1));
                },
                &told);
            ASSERT_TRUE(id);
            if (i % 10 == 0) {
                while (told.calls.load() == 0)
                    os::yield_thread();
            }
            ASSERT_TRUE(remove_metric_source(*id));
            told.is_alive.store(false);
            calls.fetch_add(told.calls.load());
        }
        working.fetch_sub(1);
    });
    EXPECT_GE(calls.load(), 60U);
}

struct SelfRemover {
    MetricSourceId id;
    Milestone running;
    Milestone go_on;
    std::atomic<bool> is_over{false};
};

TEST(MetricsConcurrent, RemovingWaitsForASourceThatRemovedItself) {
    SelfRemover remover;
    const auto id = add_metric_source(
        "self",
        [](void* context, MetricWriter&) noexcept {
            auto& self = *static_cast<SelfRemover*>(context);
            EXPECT_TRUE(remove_metric_source(self.id));
            self.running.reach(1);
            self.go_on.wait_for(1);
            self.is_over.store(true);
        },
        &remover);
    ASSERT_TRUE(id);
    remover.id = *id;
    run_workers(3, [&](std::size_t number) {
        if (number == 0) {
            take_metrics(*std::make_unique<MetricsSnapshot>());
            return;
        }
        remover.running.wait_for(1);
        if (number == 1) {
            EXPECT_EQ(remove_metric_source(remover.id).status(), Status::not_found);
            EXPECT_TRUE(remover.is_over.load());
        } else {
            for (int i = 0; i < 1'000; ++i)
                os::yield_thread();
            remover.go_on.reach(1);
        }
    });
}

}  // namespace
}  // namespace ouro
