#include "tracking_support.hpp"

#include <ouro/os/capabilities.hpp>
#include <ouro/os/fault_tracker.hpp>
#include <ouro/os/huge_pages.hpp>
#include <ouro/os/kernel_tracker.hpp>
#include <ouro/os/reservation.hpp>
#include <ouro/os/thread.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::os::AfterScan;
using ouro::os::Thread;
namespace os = ouro::os;

// Writers count up words in a tracked region while the main thread scans, rearms and copies what was
// reported. In the end the copy must equal the region: a lost write would leave an old value in it.
class TrackedCounters {
public:
    static constexpr std::size_t kUnits = 64;
    static constexpr std::size_t kWriters = 3;

    explicit TrackedCounters(std::size_t unit) : unit_(unit) {
        auto memory = os::Reservation::create({.bytes = kUnits * unit, .alignment = unit});
        EXPECT_TRUE(memory && memory->commit(0, memory->block().size));
        memory_ = *std::move(memory);
        EXPECT_TRUE(os::advise_huge(memory_.block(), false));
    }

    [[nodiscard]] MemoryBlock block() const { return memory_.block(); }

    template <class Tracker>
    void run(Tracker& tracker) {
        std::array<Thread, kWriters> writers;
        for (Thread& writer : writers) {
            auto started =
                Thread::start([](void* self) { static_cast<TrackedCounters*>(self)->write_all(); }, this);
            ASSERT_TRUE(started);
            writer = *std::move(started);
        }
        while (finished_.load() != kWriters)
            copy_written(tracker);
        for (Thread& writer : writers)
            writer.join();
        copy_written(tracker);
        for (std::size_t unit = 0; unit < kUnits; ++unit) {
            ASSERT_EQ(copies_[unit], word_of(unit).load()) << "unit " << unit;
            ASSERT_EQ(copies_[unit], kWriters * kRounds);
        }
    }

private:
    static constexpr std::uint64_t kRounds = 200;

    std::atomic<std::uint64_t>& word_of(std::size_t unit) {
        return *reinterpret_cast<std::atomic<std::uint64_t>*>(memory_.block().data + unit * unit_);
    }

    void write_all() {
        for (std::uint64_t round = 0; round < kRounds; ++round) {
            for (std::size_t unit = 0; unit < kUnits; ++unit)
                word_of(unit).fetch_add(1);
        }
        finished_.fetch_add(1);
    }

    template <class Tracker>
    void copy_written(Tracker& tracker) {
        for (const std::size_t unit :
             os::testing_support::written_units(tracker, block(), unit_, AfterScan::rearm)) {
            ASSERT_LT(unit, kUnits);
            copies_[unit] = word_of(unit).load();
        }
    }

    std::size_t unit_;
    os::Reservation memory_;
    std::array<std::uint64_t, kUnits> copies_{};
    std::atomic<std::size_t> finished_{0};
};

TEST(ConcurrentTracking, TheKernelLosesNoWrite) {
    if (!os::query_capabilities().kernel_tracking()) GTEST_SKIP() << "needs userfaultfd_wp_async";
    TrackedCounters counters(os::page_size());
    auto tracker = os::KernelTracker::create();
    ASSERT_TRUE(tracker);
    ASSERT_TRUE(tracker->add(counters.block()));
    counters.run(*tracker);
}

TEST(ConcurrentTracking, FaultsLoseNoWrite) {
    TrackedCounters counters(os::FaultTracker::kDefaultGranule);
    auto tracker = os::FaultTracker::create(counters.block());
    ASSERT_TRUE(tracker);
    counters.run(*tracker);
}

// A fault may be on its way when its tracker ends; the writer must not notice.
TEST(ConcurrentTracking, ATrackerMayEndWhileOthersWrite) {
    struct Shared {
        os::Reservation memory;
        std::atomic<bool> stop{false};
        std::atomic<std::uint64_t> writes{0};
    } shared;
    auto memory = os::Reservation::create({.bytes = 16 * os::page_size()});
    ASSERT_TRUE(memory && memory->commit(0, memory->block().size));
    shared.memory = *std::move(memory);
    auto writer = Thread::start(
        [](void* argument) {
            auto& world = *static_cast<Shared*>(argument);
            while (!world.stop.load(std::memory_order_relaxed)) {
                for (std::size_t page = 0; page < 16; ++page) {
                    os::testing_support::touch(world.memory.block(), os::page_size(), page);
                }
                world.writes.fetch_add(1, std::memory_order_relaxed);
            }
        },
        &shared);
    ASSERT_TRUE(writer);
    for (int round = 0; round < 300; ++round) {
        const auto tracker = os::FaultTracker::create(shared.memory.block(), os::page_size());
        ASSERT_TRUE(tracker);
        const std::uint64_t seen = shared.writes.load();
        while (round % 10 == 0 && shared.writes.load() == seen)
            os::yield_thread();
    }
    shared.stop = true;
    writer->join();
    EXPECT_GT(shared.writes.load(), 0U);
}

}  // namespace
