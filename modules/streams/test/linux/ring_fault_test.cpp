// Every call to the system that a ring makes fails once: creation says why and leaves nothing behind; a
// commit or a rollback either happens or leaves the last tick as it was.
#include <ouro/jobs/job_pool.hpp>
#include <ouro/os/fault_injection.hpp>
#include <ouro/streams/state_ring.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
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

// Whole pages, or packed by a worker.
Expected<StateRing> make_ring(JobPool* jobs) {
    return StateRing::create({.segments = kSegments,
                              .history_ticks = 8,
                              .history_bytes = 8 << 20,
                              .packing = jobs != nullptr,
                              .dense_ticks = 0,
                              .thinned_ticks = jobs != nullptr ? 20U : 0U,
                              .thin_every = 4,
                              .jobs = jobs});
}

void write(StateRing& ring, std::uint8_t value) {
    for (const Segment& segment : ring.segments()) {
        std::byte* at = ring.image().data + segment.offset + 100;
        std::memset(at, value, 5000);
        EXPECT_EQ(ring.mark(at, 5000), Status::ok);
    }
}

bool holds(const StateRing& ring, std::uint8_t value) {
    for (const Segment& segment : ring.segments())
        for (std::size_t at = 100; at < 5100; ++at)
            if (ring.image().data[segment.offset + at] != std::byte{value}) return false;
    return true;
}

// Fails each use of each call in turn, as long as the action still uses it so often.
template <class Action>
void sweep(Action action) {
    for (unsigned call = 0; call < os::kOsCallCount; ++call) {
        for (std::uint64_t nth = 1; nth < 100; ++nth) {
            SCOPED_TRACE(std::string(inject::name_of(static_cast<OsCall>(call))) + " " + std::to_string(nth));
            const bool fired = action([&] { inject::fail_nth(static_cast<OsCall>(call), nth, ENOMEM); });
            inject::clear();
            if (testing::Test::HasFailure()) return;
            if (!fired) break;
        }
    }
}

class RingFaults : public testing::TestWithParam<bool> {
protected:
    void SetUp() override {
        if (GetParam()) {
            auto jobs = JobPool::create({.workers = 1});
            ASSERT_TRUE(jobs);
            jobs_.emplace(*std::move(jobs));
        }
        const auto probe = make_ring();
        if (!probe && probe.status() == Status::not_supported) GTEST_SKIP() << "needs userfaultfd_wp_async";
        ASSERT_TRUE(probe) << status_name(probe.status());
    }
    void TearDown() override { inject::clear(); }
    Expected<StateRing> make_ring() { return ouro::make_ring(jobs_ ? &*jobs_ : nullptr); }

private:
    std::optional<JobPool> jobs_;
};

TEST_P(RingFaults, CreationSaysWhyAndCanBeTriedAgain) {
    unsigned failures = 0;
    sweep([&](auto arm) {
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

TEST_P(RingFaults, ACommitHappensOrLeavesTheLastTick) {
    unsigned failures = 0;
    sweep([&](auto arm) {
        auto ring = make_ring();
        write(*ring, 1);
        EXPECT_TRUE(ring->commit());
        write(*ring, 2);
        arm();
        const auto tick = ring->commit();
        const bool fired = inject::has_fired();
        inject::clear();
        if (!tick) {
            ++failures;
            EXPECT_EQ(ring->newest(), 1U);
            EXPECT_TRUE(ring->commit());
        }
        EXPECT_EQ(ring->newest(), 2U);
        EXPECT_TRUE(ring->rollback(1));
        EXPECT_TRUE(holds(*ring, 1));
        EXPECT_EQ(ring->check(), Status::ok);
        return fired;
    });
    EXPECT_GT(failures, 0U);
}

TEST_P(RingFaults, ARollbackHappensOrChangesNothing) {
    unsigned failures = 0;
    sweep([&](auto arm) {
        auto ring = make_ring();
        for (const std::uint8_t value : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}}) {
            write(*ring, value);
            EXPECT_TRUE(ring->commit());
        }
        write(*ring, 4);
        arm();
        const auto done = ring->rollback(2);
        const bool fired = inject::has_fired();
        inject::clear();
        if (!done) {
            ++failures;
            EXPECT_EQ(ring->newest(), 3U);
            EXPECT_TRUE(holds(*ring, 4));
            EXPECT_TRUE(ring->rollback(2));
        }
        EXPECT_TRUE(holds(*ring, 2));
        EXPECT_EQ(ring->check(), Status::ok);
        return fired;
    });
    EXPECT_GT(failures, 0U);
}

INSTANTIATE_TEST_SUITE_P(Histories, RingFaults, testing::Bool(),
                         [](const auto& tested) { return std::string(tested.param ? "Packed" : "Whole"); });

}  // namespace
}  // namespace ouro
