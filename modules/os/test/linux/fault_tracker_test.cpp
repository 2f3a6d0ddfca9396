#include "child_process.hpp"
#include "mapping_table.hpp"
#include "tracking_support.hpp"

#include <ouro/base/random.hpp>
#include <ouro/os/fault_tracker.hpp>
#include <ouro/os/reservation.hpp>

#include <array>
#include <cerrno>
#include <csetjmp>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

namespace {

using ouro::MemoryBlock;
using ouro::Status;
using ouro::os::AfterScan;
using ouro::os::FaultTracker;
using ouro::os::testing_support::run_in_child;
using ouro::os::testing_support::touch;
using ouro::os::testing_support::written_units;
namespace os = ouro::os;

using Units = std::vector<std::size_t>;

class FaultTrackerTest : public testing::Test {
protected:
    static constexpr std::size_t kGranule = FaultTracker::kDefaultGranule;
    static constexpr std::size_t kGranules = 64;

    void SetUp() override {
        auto memory = os::Reservation::create({.bytes = kGranules * kGranule, .alignment = kGranule});
        ASSERT_TRUE(memory && memory->commit(0, memory->block().size));
        memory_ = *std::move(memory);
    }

    void track() {
        auto tracker = FaultTracker::create(range());
        ASSERT_TRUE(tracker);
        tracker_ = *std::move(tracker);
    }

    [[nodiscard]] MemoryBlock range() const { return memory_.block(); }
    [[nodiscard]] Units scan(AfterScan after) { return written_units(tracker_, range(), kGranule, after); }
    void write(std::size_t granule) { touch(range(), kGranule, granule); }

    os::Reservation memory_;
    FaultTracker tracker_;
};

TEST_F(FaultTrackerTest, ReportsWrittenGranulesOnly) {
    write(1);
    track();
    EXPECT_EQ(scan(AfterScan::rearm), Units{});
    write(0);
    write(5);
    write(6);
    write(30);
    write(63);
    EXPECT_EQ(scan(AfterScan::rearm), (Units{0, 5, 6, 30, 63}));
    EXPECT_EQ(scan(AfterScan::rearm), Units{});
    EXPECT_EQ(range().data[5 * kGranule + kGranule / 2], std::byte{1});
}

TEST_F(FaultTrackerTest, OpenGranulesAreReportedUntilArmed) {
    track();
    write(7);
    EXPECT_EQ(scan(AfterScan::leave_open), Units{7});
    EXPECT_EQ(scan(AfterScan::leave_open), Units{7});
    ASSERT_TRUE(tracker_.arm(range().sub(7 * kGranule, kGranule)));
    EXPECT_EQ(scan(AfterScan::leave_open), Units{});
    ASSERT_TRUE(tracker_.open(range().sub(10 * kGranule, 2 * kGranule)));
    EXPECT_EQ(scan(AfterScan::rearm), (Units{10, 11}));
}

TEST_F(FaultTrackerTest, AgreesWithAModel) {
    constexpr std::uint64_t kSeed = 12;
    SCOPED_TRACE("seed 12");
    track();
    ouro::Random random(kSeed);
    const int rounds = os::testing_support::is_long_run() ? 20'000 : 100;
    for (int round = 0; round < rounds; ++round) {
        std::set<std::size_t> model;
        const std::uint32_t writes = random.below(30);
        for (std::uint32_t i = 0; i < writes; ++i) {
            const std::size_t granule = random.below(kGranules);
            write(granule);
            model.insert(granule);
        }
        ASSERT_EQ(scan(AfterScan::rearm), Units(model.begin(), model.end())) << "round " << round;
    }
}

// The documented trap, and the way around it.
TEST_F(FaultTrackerTest, SystemCallsNeedOpenGranules) {
    track();
    const int zero = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(zero, 0);
    EXPECT_EQ(::read(zero, range().data, 100), -1);
    EXPECT_EQ(errno, EFAULT);
    ASSERT_TRUE(tracker_.open(range().sub(0, kGranule)));
    EXPECT_EQ(::read(zero, range().data, 100), 100);
    ::close(zero);
    EXPECT_EQ(scan(AfterScan::rearm), Units{0});
}

TEST_F(FaultTrackerTest, OutOfMappingsOpensEverything) {
    const int outcome = run_in_child([] {
        constexpr std::size_t kPages = 160'000;
        auto memory = os::Reservation::create({.bytes = kPages * os::page_size()});
        if (!memory || !memory->commit(0, memory->block().size)) return 1;
        auto tracker = FaultTracker::create(memory->block(), os::page_size());
        if (!tracker) return 2;
        for (std::size_t page = 0; page < kPages; page += 2)
            touch(memory->block(), os::page_size(), page);
        std::vector<os::WrittenRange> out(kPages);
        const auto scanned = tracker->scan(memory->block(), out, AfterScan::leave_open);
        if (!scanned) return 3;
        // Everything counts as written, in one range.
        return scanned->count == 1 && out[0].block() == memory->block() ? 0 : 4;
    });
    EXPECT_EQ(outcome, 0);
}

TEST_F(FaultTrackerTest, RefusesWhatItCannotTrack) {
    EXPECT_EQ(FaultTracker::create({range().data, 0}).status(), Status::zero_size);
    EXPECT_EQ(FaultTracker::create(range(), 100).status(), Status::bad_alignment);
    EXPECT_EQ(FaultTracker::create(range(), 3 * os::page_size()).status(), Status::bad_alignment);
    EXPECT_EQ(FaultTracker::create(range().sub(os::page_size(), kGranule)).status(), Status::bad_address);
    track();
    EXPECT_EQ(FaultTracker::create(range().sub(0, kGranule)).status(), Status::already_tracked);
    EXPECT_EQ(tracker_.arm({range().end(), kGranule}).status(), Status::out_of_range);
    std::array<os::WrittenRange, 1> out;
    EXPECT_EQ(tracker_.scan(range(), {}, AfterScan::rearm).status(), Status::bad_argument);
    EXPECT_EQ(FaultTracker().scan(range(), out, AfterScan::rearm).status(), Status::not_tracked);
    const auto nothing = os::reserve({.bytes = kGranule, .alignment = kGranule});
    ASSERT_TRUE(nothing && os::release(*nothing));
    EXPECT_EQ(FaultTracker::create(*nothing).status(), Status::not_mapped);
}

TEST_F(FaultTrackerTest, ThereIsRoomForSoMany) {
    std::vector<FaultTracker> trackers;
    for (std::size_t i = 0; i < FaultTracker::kMaxTrackers; ++i) {
        auto tracker = FaultTracker::create(range().sub(i * kGranule, kGranule));
        ASSERT_TRUE(tracker);
        trackers.push_back(*std::move(tracker));
    }
    auto more = os::Reservation::create({.bytes = kGranule, .alignment = kGranule});
    ASSERT_TRUE(more && more->commit(0, kGranule));
    EXPECT_EQ(FaultTracker::create(more->block()).status(), Status::capacity_exhausted);
    write(63);
    EXPECT_EQ(written_units(trackers[63], trackers[63].range(), kGranule, AfterScan::rearm), Units{0});
    trackers.pop_back();
    EXPECT_TRUE(FaultTracker::create(more->block()));
}

TEST_F(FaultTrackerTest, LeavesNoMappingBehind) {
    const os::testing_support::NoMappingLeak balanced;
    track();
    write(1);
    tracker_ = FaultTracker();
    write(2);
}

TEST_F(FaultTrackerTest, OtherFaultsStillEndTheProcess) {
    track();
    int* volatile nowhere = reinterpret_cast<int*>(16);
    EXPECT_DEATH(*nowhere = 1, "");
}

// A program that recovers from its own faults by a jump is served every time.
TEST_F(FaultTrackerTest, AHandlerMayJumpOut) {
    const int outcome = run_in_child([] {
        static sigjmp_buf recovery;
        struct sigaction action = {};
        action.sa_handler = [](int) { siglongjmp(recovery, 1); };
        ::sigaction(SIGSEGV, &action, nullptr);
        auto memory = os::Reservation::create({.bytes = os::page_size()});
        if (!memory || !memory->commit(0, os::page_size())) return 1;
        const auto tracker = FaultTracker::create(memory->block(), os::page_size());
        if (!tracker) return 2;
        int* volatile nowhere = reinterpret_cast<int*>(16);
        volatile int recovered = 0;
        while (recovered < 3) {
            if (sigsetjmp(recovery, 1) == 0) *nowhere = 1;
            recovered = recovered + 1;
        }
        touch(memory->block(), os::page_size(), 0);
        return 7;
    });
    EXPECT_EQ(outcome, 7);
}

TEST_F(FaultTrackerTest, OtherFaultsReachTheHandlerBefore) {
    const int outcome = run_in_child([] {
        struct sigaction action = {};
        action.sa_sigaction = [](int, siginfo_t* info, void*) {
            ::_exit(info->si_addr == reinterpret_cast<void*>(16) ? 7 : 8);
        };
        action.sa_flags = SA_SIGINFO;
        ::sigaction(SIGSEGV, &action, nullptr);
        auto memory = os::Reservation::create({.bytes = os::page_size()});
        if (!memory || !memory->commit(0, os::page_size())) return 1;
        const auto tracker = FaultTracker::create(memory->block(), os::page_size());
        if (!tracker) return 2;
        touch(memory->block(), os::page_size(), 0);
        int* volatile nowhere = reinterpret_cast<int*>(16);
        *nowhere = 1;
        return 3;
    });
    EXPECT_EQ(outcome, 7);
}

}  // namespace
