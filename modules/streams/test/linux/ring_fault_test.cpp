// Every call to the system that a ring makes fails, once and from then on: creation says why and leaves
// nothing behind; a commit or a rollback happens, whatever its tracker does.
#include <ouro/jobs/job_pool.hpp>
#include <ouro/os/fault_injection.hpp>
#include <ouro/streams/state_ring.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace ouro {
namespace {

namespace inject = os::fault_injection;
using os::OsCall;

constexpr std::array kSegments = {
    SegmentOptions{.name = "declared", .bytes = 64 << 10},
    SegmentOptions{.name = "kernel", .bytes = 64 << 10, .tracking = Tracking::kernel},
    SegmentOptions{.name = "protect", .bytes = 128 << 10, .tracking = Tracking::protect},
    SegmentOptions{.name = "compare", .bytes = 64 << 10, .tracking = Tracking::compare},
};

// The same with segments that keep lines.
constexpr std::array kFineSegments = {
    SegmentOptions{.name = "declared", .bytes = 64 << 10},
    SegmentOptions{.name = "kernel", .bytes = 64 << 10, .tracking = Tracking::kernel},
    SegmentOptions{.name = "fine", .bytes = 128 << 10, .fine = true},
    SegmentOptions{.name = "bound", .bytes = 64 << 10, .kind = SegmentKind::process_bound, .fine = true},
};

struct FaultCase {
    const char* name;
    bool packing;
    bool fine;
};

// Whole pages, or packed by a worker.
Expected<StateRing> make_ring(const FaultCase& with, JobPool* jobs) {
    return StateRing::create({.segments = with.fine ? std::span<const SegmentOptions>(kFineSegments)
                                                    : std::span<const SegmentOptions>(kSegments),
                              .history_ticks = 8,
                              .history_bytes = 8 << 20,
                              .packing = jobs != nullptr,
                              .dense_ticks = 0,
                              .thinned_ticks = jobs != nullptr ? 20U : 0U,
                              .thin_every = 4,
                              .jobs = jobs});
}

// One run over a page's end, or where a segment is fine a few lines in each of some pages.
template <class Visit>
void visit_written(const StateRing& ring, Visit visit) {
    for (const Segment& segment : ring.segments()) {
        std::byte* const begin = ring.image().data + segment.offset;
        if (!segment.fine) visit(segment, begin + 100, std::size_t{5000});
        for (std::size_t page = 0; segment.fine && page < 10; ++page)
            visit(segment, begin + page * kStatePageBytes + 100, std::size_t{100});
    }
}

// Only what has to be declared is marked: a mark would hide that a tracker has lost a page.
void write(StateRing& ring, std::uint8_t value) {
    visit_written(ring, [&](const Segment& segment, std::byte* at, std::size_t bytes) {
        std::memset(at, value, bytes);
        if (segment.tracking != Tracking::declared) return;
        EXPECT_EQ(ring.mark(at, bytes), Status::ok);
    });
}

bool holds(const StateRing& ring, std::uint8_t value) {
    bool is_same = true;
    visit_written(ring, [&](const Segment&, const std::byte* at, std::size_t bytes) {
        for (std::size_t index = 0; index < bytes; ++index)
            is_same = is_same && at[index] == std::byte{value};
    });
    return is_same;
}

// In each segment a place that no tick writes: only the tracker knows of it.
template <class Visit>
void visit_elsewhere(const StateRing& ring, Visit visit) {
    constexpr std::size_t kPage = 12;
    for (const Segment& segment : ring.segments())
        visit(segment, ring.image().data + segment.offset + kPage * kStatePageBytes);
}

void write_elsewhere(StateRing& ring) {
    visit_elsewhere(ring, [&](const Segment& segment, std::byte* at) {
        *at = std::byte{1};
        if (segment.tracking != Tracking::declared) return;
        EXPECT_EQ(ring.mark(at, 1), Status::ok);
    });
}

bool is_empty_elsewhere(const StateRing& ring) {
    bool is_empty = true;
    visit_elsewhere(ring,
                    [&](const Segment&, const std::byte* at) { is_empty = is_empty && *at == std::byte{0}; });
    return is_empty;
}

// Fails each use of each call in turn, alone and with all that follow, as long as the action still uses it so
// often. Returns how many failures that were.
template <class Action>
unsigned sweep(Action action) {
    unsigned failures = 0;
    for (const auto fail : {inject::fail_nth, inject::fail_from}) {
        for (unsigned call = 0; call < os::kOsCallCount; ++call) {
            for (std::uint64_t nth = 1; nth < 100; ++nth) {
                SCOPED_TRACE(std::string(inject::name_of(static_cast<OsCall>(call))) + " " +
                             std::to_string(nth) + (fail == inject::fail_from ? " and on" : ""));
                // Where nothing can be mapped or unmapped any more, half an image cannot end: an assert.
                if (fail == inject::fail_from && call <= static_cast<unsigned>(OsCall::unmap_memory)) break;
                const bool fired = action([&] { fail(static_cast<OsCall>(call), nth, ENOMEM); });
                inject::clear();
                if (testing::Test::HasFailure()) return failures;
                if (!fired) break;
                ++failures;
            }
        }
    }
    return failures;
}

class RingFaults : public testing::TestWithParam<FaultCase> {
protected:
    void SetUp() override {
        if (GetParam().packing) {
            auto jobs = JobPool::create({.workers = 1});
            ASSERT_TRUE(jobs);
            jobs_.emplace(*std::move(jobs));
        }
        const auto probe = make_ring();
        if (!probe && probe.status() == Status::not_supported) GTEST_SKIP() << "needs userfaultfd_wp_async";
        ASSERT_TRUE(probe) << status_name(probe.status());
    }
    void TearDown() override { inject::clear(); }
    Expected<StateRing> make_ring() { return ouro::make_ring(GetParam(), jobs_ ? &*jobs_ : nullptr); }

private:
    std::optional<JobPool> jobs_;
};

TEST_P(RingFaults, CreationSaysWhyAndCanBeTriedAgain) {
    unsigned failures = 0;
    (void)sweep([&](auto arm) {
        arm();
        auto ring = make_ring();
        const bool fired = inject::has_fired();
        failures += ring ? 0U : 1U;
        EXPECT_TRUE(fired || ring);
        inject::clear();
        EXPECT_TRUE(make_ring());
        return fired;
    });
    EXPECT_GT(failures, 5U);
}

TEST_P(RingFaults, ACommitHappens) {
    std::uint64_t failed_scans = 0;
    const unsigned failures = sweep([&](auto arm) {
        auto ring = make_ring();
        write(*ring, 1);
        EXPECT_TRUE(ring->commit());
        write(*ring, 2);
        arm();
        const auto tick = ring->commit();
        const bool fired = inject::has_fired();
        inject::clear();
        EXPECT_TRUE(tick);
        EXPECT_EQ(ring->newest(), 2U);
        EXPECT_TRUE(fired || ring->stats().failed_scans == 0);
        failed_scans += ring->stats().failed_scans;
        EXPECT_TRUE(holds(*ring, 2));
        // What the second tick replaced are lines.
        EXPECT_TRUE(!GetParam().fine || ring->stats().packed_versions >= 20);
        write(*ring, 3);
        EXPECT_TRUE(ring->commit());
        EXPECT_TRUE(ring->rollback(2));
        EXPECT_TRUE(holds(*ring, 2));
        EXPECT_TRUE(ring->rollback(1));
        EXPECT_TRUE(holds(*ring, 1));
        EXPECT_EQ(ring->check(), Status::ok);
        return fired;
    });
    EXPECT_GT(failures, 0U);
    EXPECT_GT(failed_scans, 0U);
}

TEST_P(RingFaults, ARollbackHappens) {
    std::uint64_t failed_scans = 0;
    const unsigned failures = sweep([&](auto arm) {
        auto ring = make_ring();
        for (const std::uint8_t value : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}}) {
            write(*ring, value);
            EXPECT_TRUE(ring->commit());
        }
        write(*ring, 4);
        write_elsewhere(*ring);
        arm();
        const auto done = ring->rollback(2);
        const bool fired = inject::has_fired();
        inject::clear();
        EXPECT_TRUE(done);
        EXPECT_EQ(ring->newest(), 2U);
        failed_scans += ring->stats().failed_scans;
        EXPECT_TRUE(holds(*ring, 2));
        EXPECT_TRUE(is_empty_elsewhere(*ring));
        EXPECT_EQ(ring->check(), Status::ok);
        return fired;
    });
    EXPECT_GT(failures, 0U);
    EXPECT_GT(failed_scans, 0U);
}

INSTANTIATE_TEST_SUITE_P(Histories, RingFaults,
                         testing::Values(FaultCase{"Whole", false, false}, FaultCase{"Packed", true, false},
                                         FaultCase{"Fine", false, true}, FaultCase{"FinePacked", true, true}),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace ouro
