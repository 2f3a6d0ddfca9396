// Readers keep no more than their quota, with the least history that a ring can have: what they keep beyond
// it would be missing where ticks are committed.
#include <ouro/base/random.hpp>
#include <ouro/streams/state_ring.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

// A segment has no fewer, so that every page of the image is written.
constexpr std::uint32_t kPages = 2 * kSegmentAlignment / kStatePageBytes;
constexpr std::uint32_t kReaderImages = 12;
constexpr SegmentOptions kWorld{.name = "world", .bytes = kPages * kStatePageBytes};
constexpr SegmentOptions kFineWorld{.name = "world", .bytes = kPages * kStatePageBytes, .fine = true};

class RingQuota : public testing::TestWithParam<int> {
protected:
    void SetUp() override {
        const int kind = GetParam();
        StateRingOptions options{.segments = {kind == 2 ? &kFineWorld : &kWorld, 1},
                                 .history_ticks = 200,
                                 // The header's page counts too.
                                 .reader_bytes = kReaderImages * (kPages + 1) * kStatePageBytes,
                                 .packing = kind == 1,
                                 .dense_ticks = 2,
                                 .unpacked_bytes = 4 << 20};
        options.history_bytes = *StateRing::least_history_bytes(options);
        auto ring = StateRing::create(options);
        ASSERT_TRUE(ring) << status_name(ring.status());
        ring_ = *std::move(ring);
    }

    // Every page differs from what it ever was.
    void run(int ticks) {
        const MemoryBlock world = *ring_.segment_block("world");
        for (; ticks != 0; --ticks) {
            ++number_;
            for (std::uint32_t page = 0; page < kPages; ++page)
                std::memset(world.data + page * kStatePageBytes, static_cast<int>(fill_of(number_)), 2000);
            std::memcpy(world.data, &number_, sizeof(number_));
            ASSERT_EQ(ring_.mark(world.data, world.size), Status::ok);
            ASSERT_TRUE(ring_.commit());
            if (numbers_.size() <= ring_.newest()) numbers_.resize(index(ring_.newest()) + 1);
            numbers_[index(ring_.newest())] = number_;
        }
    }
    // Of tick 0 it is zero.
    static std::uint64_t fill_of(std::uint64_t number) { return number == 0 ? 0 : number % 251 + 1; }
    static std::size_t index(Tick tick) { return static_cast<std::size_t>(tick); }

    struct Watched {
        TickView view;
        std::uint64_t number = 0;
    };
    bool watch(Tick tick) {
        auto view = ring_.view(tick);
        if (view)
            watched_.push_back({*std::move(view), numbers_[index(tick)]});
        else
            EXPECT_EQ(view.status(), Status::budget_exceeded);
        return view.has_value();
    }
    static void expect_whole(const Watched& each) {
        const auto offset = std::uint64_t{kSegmentAlignment};
        std::uint64_t number = 0;
        ASSERT_EQ(each.view.read(offset, std::as_writable_bytes(std::span(&number, 1))), Status::ok);
        ASSERT_EQ(number, each.number) << "tick " << each.view.tick();
        for (std::uint32_t page = 0; page < kPages; ++page) {
            std::byte last{};
            ASSERT_EQ(each.view.read(offset + page * kStatePageBytes + 1999, {&last, 1}), Status::ok);
            ASSERT_EQ(static_cast<std::uint64_t>(last), fill_of(number)) << "page " << page;
        }
    }
    void expect_all_whole() {
        for (const Watched& each : watched_)
            expect_whole(each);
        ASSERT_EQ(ring_.check(), Status::ok);
    }
    void end_view(std::size_t which) {
        watched_.erase(watched_.begin() + static_cast<std::ptrdiff_t>(which));
    }

    StateRing ring_;
    std::uint64_t number_ = 0;
    std::vector<std::uint64_t> numbers_{0};
    std::vector<Watched> watched_;
};

// What two of three readers had of ticks that are left behind is there only while they are.
TEST_P(RingQuota, WhatEndedReadersHadIsGivenUp) {
    run(1);
    for (int round = 0; round < 40; ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        const std::size_t before = watched_.size();
        // Three of a past that will be another's; the quota has room for them.
        for (int each = 0; each < 3; ++each) {
            run(1);
            ASSERT_TRUE(watch(ring_.newest()));
        }
        ASSERT_TRUE(ring_.rollback(ring_.oldest()));
        end_view(before + 2);
        end_view(before + 1);
        if (watched_.size() > 8) end_view(0);
        run(5);
        expect_all_whole();
        if (testing::Test::HasFatalFailure()) return;
    }
}

// A future that becomes a part of another brings along what that one has of its own in the ticks that are
// read.
TEST_P(RingQuota, FuturesThatBecomeOneKeepNoMoreThanIsRead) {
    run(2);
    for (int round = 0; round < 8; ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        // Each reads the tick behind the next fork, which changes every page; so nothing before it is read.
        for (int each = 0; each < 8; ++each) {
            run(2);
            const bool is_read = watch(ring_.newest());
            if (is_read && watched_.size() > 9) end_view(0);
            ASSERT_TRUE(ring_.rollback(ring_.newest() - std::min<Tick>(ring_.newest() - ring_.oldest(), 3)));
            expect_all_whole();
            if (testing::Test::HasFatalFailure()) return;
        }
        run(6);
        expect_all_whole();
    }
}

TEST_P(RingQuota, ReadersOfOneTickCountOnce) {
    run(1);
    for (std::uint32_t each = 0; each < kReaderImages; ++each) {
        ASSERT_TRUE(watch(ring_.newest()) && watch(ring_.newest())) << each;
        run(1);
    }
    EXPECT_FALSE(watch(ring_.newest()));
    expect_all_whole();
}

TEST_P(RingQuota, AnythingInAnyOrder) {
    std::vector<KeptFuture> futures;
    Random random(23);
    int refused = 0;
    int taken = 0;
    for (int step = 0; step < 3000; ++step) {
        SCOPED_TRACE("step " + std::to_string(step));
        const std::uint32_t choice = random.below(20);
        const Tick newest = ring_.newest();
        const Tick back = newest - std::min<Tick>(newest - ring_.oldest(), random.below(4));
        if (choice < 5 && watched_.size() < 20) {
            ++(watch(back) ? taken : refused);
        } else if (choice < 8 && !watched_.empty()) {
            end_view(random.below(static_cast<std::uint32_t>(watched_.size())));
        } else if (choice < 11) {
            ASSERT_TRUE(ring_.rollback(back));
        } else if (choice < 12 && back != newest) {
            const auto future = ring_.branch(back);
            if (future) futures.push_back(*future);
            ASSERT_TRUE(future || future.status() == Status::budget_exceeded);
        } else if (choice < 14 && !futures.empty()) {
            const std::size_t number = random.below(static_cast<std::uint32_t>(futures.size()));
            ASSERT_TRUE(ring_.drop(futures[number]));
            futures.erase(futures.begin() + static_cast<std::ptrdiff_t>(number));
        } else {
            run(1 + static_cast<int>(random.below(3)));
        }
        expect_all_whole();
        if (testing::Test::HasFailure()) return;
    }
    // Else the quota was never met, or nobody read.
    EXPECT_GT(refused, 50);
    EXPECT_GT(taken, 100);
}

INSTANTIATE_TEST_SUITE_P(, RingQuota, testing::Values(0, 1, 2), [](const auto& each) {
    return std::string(each.param == 0 ? "Whole" : each.param == 1 ? "Packed" : "Fine");
});

}  // namespace
}  // namespace ouro
