// What readers see of ticks that are left behind, at each step of leaving them, and however many they are.
#include "ring_pause.hpp"

#include <ouro/base/random.hpp>
#include <ouro/streams/state_ring.hpp>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

constexpr std::uint32_t kPages = 24;
constexpr SegmentOptions kWorld{.name = "world", .bytes = kPages * kStatePageBytes};
constexpr SegmentOptions kFineWorld{.name = "world", .bytes = kPages * kStatePageBytes, .fine = true};
constexpr auto kFirstPage = static_cast<std::uint32_t>(kSegmentAlignment / kStatePageBytes);

// A view, and what it has to show: one number a page.
struct Watched {
    TickView view;
    std::vector<std::uint64_t> numbers;

    void expect_whole(const char* when) const {
        for (std::uint32_t page = 0; page < kPages; ++page) {
            std::uint64_t number = 0;
            std::memcpy(&number, view.page(kFirstPage + page) + 8 * page, sizeof(number));
            ASSERT_EQ(number, numbers[page]) << "page " << page << " of tick " << view.tick() << ' ' << when;
        }
    }
};

class RingFutures : public testing::TestWithParam<int> {
protected:
    void SetUp() override {
        const int kind = GetParam();
        auto ring = StateRing::create({.segments = {kind == 2 ? &kFineWorld : &kWorld, 1},
                                       .history_ticks = 500,
                                       .history_bytes = 64 << 20,
                                       .packing = kind == 1,
                                       .dense_ticks = 3,
                                       .unpacked_bytes = 8 << 20});
        ASSERT_TRUE(ring) << status_name(ring.status());
        ring_ = *std::move(ring);
        numbers_.assign(kPages, 0);
        for (std::uint32_t page = 0; page < kPages; ++page)
            write(page, page + 1);
        commit();
    }
    void TearDown() override { detail::ring_pause = nullptr; }

    void write(std::uint32_t page, std::uint64_t number) {
        numbers_[page] = number;
        std::byte* const at = ring_.segment_block("world")->data + page * kStatePageBytes + 8 * page;
        std::memcpy(at, &number, sizeof(number));
        ASSERT_EQ(ring_.mark(at, sizeof(number)), Status::ok);
    }
    void commit() {
        ASSERT_TRUE(ring_.commit());
        if (kept_.size() <= ring_.newest()) kept_.resize(static_cast<std::size_t>(ring_.newest()) + 1);
        kept_[static_cast<std::size_t>(ring_.newest())] = numbers_;
    }
    void run(int ticks) {
        for (; ticks != 0; --ticks) {
            for (std::uint32_t count = 1 + random_.below(3); count != 0; --count)
                write(random_.below(kPages), random_.next() | 1);
            commit();
        }
    }
    void went_back() { numbers_ = kept_[static_cast<std::size_t>(ring_.newest())]; }
    void rollback(Tick tick) {
        ASSERT_TRUE(ring_.rollback(tick));
        went_back();
    }
    void watch(Tick tick) {
        auto view = ring_.view(tick);
        ASSERT_TRUE(view) << status_name(view.status());
        watched_.push_back({*std::move(view), kept_[static_cast<std::size_t>(tick)]});
    }
    void expect_all_whole(const char* when) const {
        for (const Watched& each : watched_)
            each.expect_whole(when);
    }

    StateRing ring_;
    Random random_{7};
    std::vector<std::uint64_t> numbers_;
    std::vector<std::vector<std::uint64_t>> kept_;
    std::vector<Watched> watched_;
};

// Other threads read at any time: here at each step of going back at which they can be told apart.
struct Looker {
    static inline std::vector<Watched>* watched = nullptr;
    static inline const StateRing* ring = nullptr;
    static inline Tick target = 0;
    static inline int steps = 0;

    static void look(detail::RingPause step) {
        ++steps;
        const std::string when = "at step " + std::to_string(static_cast<int>(step));
        for (const Watched& each : *watched)
            each.expect_whole(when.c_str());
        if (step == detail::RingPause::futures_joined) return;
        EXPECT_EQ(ring->newest(), target);
        EXPECT_EQ(ring->view(target + 1).status(), Status::out_of_range);
        EXPECT_TRUE(ring->view(target));
    }
};

TEST_P(RingFutures, ReadersSeeTheirTicksAtEveryStepOfGoingBack) {
    run(40);
    for (Tick tick = 2; tick <= 40; tick += 3)
        watch(tick);
    Looker::watched = &watched_;
    Looker::ring = &ring_;
    Looker::steps = 0;
    detail::ring_pause = Looker::look;
    for (const Tick target : {Tick{35}, Tick{20}, Tick{10}}) {
        Looker::target = target;
        const auto future = ring_.branch(target);
        ASSERT_TRUE(future) << status_name(future.status());
        went_back();
        expect_all_whole("after a branch");
        run(2);
        Looker::target = target - 1;
        rollback(target - 1);
        expect_all_whole("after going back");
    }
    EXPECT_GE(Looker::steps, 18);
    detail::ring_pause = nullptr;
    watched_.clear();
    EXPECT_EQ(ring_.check(), Status::ok);
}

// A game is rewound tick by tick, while an inspector looks at one tick all the time and a renderer at the
// newest: each tick that is left has begun a future.
TEST_P(RingFutures, RewindingIsNeverRefusedBecauseOfReaders) {
    run(450);
    watch(450);
    const Tick start = ring_.newest();
    for (Tick tick = start; tick > 2; --tick) {
        watch(tick);
        rollback(tick - 1);
        expect_all_whole("while it is rewound");
        // The renderer is one tick late.
        if (watched_.size() == 3) watched_.erase(watched_.begin() + 1);
        if (testing::Test::HasFailure()) break;
    }
    run(30);
    expect_all_whole("after it went on");
    watched_.clear();
    run(1);
    EXPECT_EQ(ring_.check(), Status::ok);
}

// Random ticks are read, left behind, kept and dropped; so many futures begin from others that those must
// become one.
TEST_P(RingFutures, ManyFuturesBecomeFew) {
    run(100);
    std::vector<KeptFuture> futures;
    for (int step = 0; step < 1500; ++step) {
        SCOPED_TRACE("step " + std::to_string(step));
        const std::uint32_t choice = random_.below(20);
        const Tick newest = ring_.newest();
        const Tick back = newest - std::min<Tick>(newest - 1, random_.below(6));
        if (choice < 4 && watched_.size() < 20) {
            watch(back);
        } else if (choice < 8 && !watched_.empty()) {
            const std::uint32_t which = random_.below(static_cast<std::uint32_t>(watched_.size()));
            watched_.erase(watched_.begin() + static_cast<std::ptrdiff_t>(which));
        } else if (choice < 13 && back != newest) {
            rollback(back);
        } else if (choice < 15 && back != newest && futures.size() < 12) {
            const auto last = kept_[static_cast<std::size_t>(newest)];
            const auto future = ring_.branch(back);
            ASSERT_TRUE(future) << status_name(future.status());
            went_back();
            futures.push_back(*future);
            auto view = ring_.view(*future, newest);
            ASSERT_TRUE(view) << status_name(view.status());
            Watched{*std::move(view), last}.expect_whole("of a future");
        } else if (choice < 17 && !futures.empty()) {
            const std::size_t number = random_.below(static_cast<std::uint32_t>(futures.size()));
            ASSERT_TRUE(ring_.drop(futures[number]));
            futures.erase(futures.begin() + static_cast<std::ptrdiff_t>(number));
        } else {
            run(1 + static_cast<int>(random_.below(3)));
        }
        if (ring_.newest() < 20) run(40);
        expect_all_whole("of all that are read");
        if (step % 100 == 0) {
            ASSERT_EQ(ring_.check(), Status::ok);
        }
        if (testing::Test::HasFailure()) return;
    }
    watched_.clear();
    for (const KeptFuture future : futures)
        ASSERT_TRUE(ring_.drop(future));
    run(1);
    EXPECT_EQ(ring_.check(), Status::ok);
}

TEST_P(RingFutures, SoManyAreKeptAndNoMore) {
    run(5);
    for (int count = 0; count < 48; ++count) {
        ASSERT_TRUE(ring_.branch(3)) << count;
        went_back();
        run(2);
    }
    EXPECT_EQ(ring_.branch(3).status(), Status::capacity_exhausted);
    watch(5);
    rollback(3);
    expect_all_whole("beside all the others");
}

INSTANTIATE_TEST_SUITE_P(, RingFutures, testing::Values(0, 1, 2), [](const auto& each) {
    return std::string(each.param == 0 ? "Whole" : each.param == 1 ? "Packed" : "Fine");
});

}  // namespace
}  // namespace ouro
