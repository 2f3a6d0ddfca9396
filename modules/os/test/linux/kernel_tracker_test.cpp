#include "mapping_table.hpp"
#include "tracking_support.hpp"

#include <ouro/base/random.hpp>
#include <ouro/os/capabilities.hpp>
#include <ouro/os/huge_pages.hpp>
#include <ouro/os/kernel_tracker.hpp>
#include <ouro/os/memory_object.hpp>
#include <ouro/os/reservation.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace {

using ouro::MemoryBlock;
using ouro::Status;
using ouro::os::AfterScan;
using ouro::os::KernelTracker;
using ouro::os::testing_support::touch;
using ouro::os::testing_support::written_units;
namespace os = ouro::os;

using Units = std::vector<std::size_t>;

// A tracked mapping of a memory object, as the state ring has it.
class KernelTrackerTest : public testing::Test {
protected:
    static constexpr std::size_t kPages = 256;

    void SetUp() override {
        if (!os::query_capabilities().kernel_tracking()) GTEST_SKIP() << "needs userfaultfd_wp_async";
        auto object = os::MemoryObject::create(kPages * os::page_size(), "tracked");
        ASSERT_TRUE(object);
        object_ = *std::move(object);
        auto mapping = object_.map({.bytes = object_.size()});
        auto alias = object_.map({.bytes = object_.size()});
        ASSERT_TRUE(mapping && alias);
        mapping_ = *std::move(mapping);
        alias_ = *std::move(alias);
        auto tracker = KernelTracker::create();
        ASSERT_TRUE(tracker);
        tracker_ = *std::move(tracker);
    }

    [[nodiscard]] MemoryBlock range() const { return mapping_.block(); }
    [[nodiscard]] Units scan(AfterScan after) {
        return written_units(tracker_, range(), os::page_size(), after);
    }
    void write(std::size_t page) { touch(range(), os::page_size(), page); }

    os::MemoryObject object_;
    os::Mapping mapping_;
    os::Mapping alias_;
    KernelTracker tracker_;
};

TEST_F(KernelTrackerTest, ReportsWrittenPagesOnly) {
    write(0);
    ASSERT_TRUE(tracker_.add(range()));
    EXPECT_EQ(scan(AfterScan::rearm), Units{});
    write(3);
    write(4);
    write(9);
    write(200);
    write(255);
    EXPECT_EQ(scan(AfterScan::rearm), (Units{3, 4, 9, 200, 255}));
    EXPECT_EQ(scan(AfterScan::rearm), Units{});
}

TEST_F(KernelTrackerTest, ReadingIsNotWriting) {
    ASSERT_TRUE(tracker_.add(range()));
    unsigned sum = 0;
    for (std::size_t at = 0; at < range().size; at += os::page_size())
        sum += static_cast<unsigned>(range().data[at]);
    EXPECT_EQ(sum, 0U);
    EXPECT_EQ(scan(AfterScan::rearm), Units{});
}

TEST_F(KernelTrackerTest, OpenPagesAreReportedUntilArmed) {
    ASSERT_TRUE(tracker_.add(range()));
    write(7);
    EXPECT_EQ(scan(AfterScan::leave_open), Units{7});
    EXPECT_EQ(scan(AfterScan::leave_open), Units{7});
    ASSERT_TRUE(tracker_.arm(range().sub(7 * os::page_size(), os::page_size())));
    EXPECT_EQ(scan(AfterScan::leave_open), Units{});
    ASSERT_TRUE(tracker_.open(range().sub(20 * os::page_size(), 2 * os::page_size())));
    write(20);
    write(21);
    EXPECT_EQ(scan(AfterScan::leave_open), (Units{20, 21}));
}

TEST_F(KernelTrackerTest, TheOtherMappingWritesUnseen) {
    ASSERT_TRUE(tracker_.add(range()));
    touch(alias_.block(), os::page_size(), 5);
    EXPECT_EQ(scan(AfterScan::rearm), Units{});
    EXPECT_EQ(range().data[5 * os::page_size() + os::page_size() / 2], std::byte{1});
}

TEST_F(KernelTrackerTest, SystemCallsThatWriteAreSeen) {
    ASSERT_TRUE(tracker_.add(range()));
    const int zero = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(zero, 0);
    EXPECT_EQ(::read(zero, range().data + 30 * os::page_size(), 2 * os::page_size()),
              static_cast<ssize_t>(2 * os::page_size()));
    ::close(zero);
    EXPECT_EQ(scan(AfterScan::rearm), (Units{30, 31}));
}

TEST_F(KernelTrackerTest, AgreesWithAModel) {
    constexpr std::uint64_t kSeed = 11;
    SCOPED_TRACE("seed 11");
    ASSERT_TRUE(tracker_.add(range()));
    ouro::Random random(kSeed);
    const int rounds = os::testing_support::is_long_run() ? 20'000 : 200;
    for (int round = 0; round < rounds; ++round) {
        std::set<std::size_t> model;
        const std::uint32_t writes = random.below(60);
        for (std::uint32_t i = 0; i < writes; ++i) {
            const std::size_t page = random.below(kPages);
            write(page);
            model.insert(page);
        }
        ASSERT_EQ(scan(AfterScan::rearm), Units(model.begin(), model.end())) << "round " << round;
    }
}

TEST_F(KernelTrackerTest, TracksOrdinaryMemoryToo) {
    auto memory = os::Reservation::create({.bytes = 16 * os::page_size()});
    ASSERT_TRUE(memory && memory->commit(0, memory->block().size));
    ASSERT_TRUE(os::advise_huge(memory->block(), false));
    ASSERT_TRUE(tracker_.add(memory->block()));
    touch(memory->block(), os::page_size(), 2);
    EXPECT_EQ(written_units(tracker_, memory->block(), os::page_size(), AfterScan::rearm), Units{2});
}

TEST_F(KernelTrackerTest, RefusesWhatItCannotTrack) {
    const MemoryBlock page = range().sub(0, os::page_size());
    std::array<os::WrittenRange, 4> out;
    EXPECT_EQ(tracker_.arm(page).status(), Status::not_tracked);
    EXPECT_EQ(tracker_.scan(page, out, AfterScan::rearm).status(), Status::not_tracked);
    EXPECT_EQ(tracker_.add({range().data, 0}).status(), Status::zero_size);
    EXPECT_EQ(tracker_.add({range().data + 1, os::page_size()}).status(), Status::bad_address);
    ASSERT_TRUE(tracker_.add(range()));
    EXPECT_EQ(tracker_.scan(page, {}, AfterScan::rearm).status(), Status::bad_argument);
    EXPECT_EQ(tracker_.remove(page).status(), Status::not_tracked);
    auto second = KernelTracker::create();
    ASSERT_TRUE(second);
    EXPECT_EQ(second->add(page).status(), Status::already_tracked);
    EXPECT_EQ(second->arm(page).status(), Status::not_tracked);
    EXPECT_EQ(second->scan(page, out, AfterScan::rearm).status(), Status::not_tracked);
    ASSERT_TRUE(tracker_.remove(range()));
    EXPECT_TRUE(second->add(page));
    const auto nothing = os::reserve({.bytes = os::page_size()});
    ASSERT_TRUE(nothing && os::release(*nothing));
    EXPECT_EQ(tracker_.add(*nothing).status(), Status::not_mapped);
}

TEST_F(KernelTrackerTest, AddingTwiceForgetsNothing) {
    ASSERT_TRUE(tracker_.add(range()));
    write(4);
    EXPECT_EQ(tracker_.add(range()).status(), Status::already_tracked);
    EXPECT_EQ(scan(AfterScan::rearm), Units{4});
}

TEST_F(KernelTrackerTest, LeavesNoMappingBehind) {
    const os::testing_support::NoMappingLeak balanced;
    auto tracker = KernelTracker::create();
    ASSERT_TRUE(tracker);
    ASSERT_TRUE(tracker->add(range()));
    write(1);
}

}  // namespace
