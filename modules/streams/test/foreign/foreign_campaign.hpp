#pragma once

#include "foreign_world.hpp"

#include <ouro/base/random.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

namespace ouro::testing_support {

// Goes back by random distances, simulates the same ticks again, and compares every byte with what they were
// the first time.
template <class Scene>
class ForeignCampaign {
public:
    ForeignCampaign(ForeignWorld<Scene>& world, std::uint64_t seed) : world_(world), random_(seed) {
        states_[world.ring().newest()] = WholeState::of(world);
    }

    void run(std::uint64_t rollbacks) {
        for (std::uint64_t count = 0; count < rollbacks; ++count) {
            SCOPED_TRACE("seed " + std::to_string(random_.seed()) + ", rollback " + std::to_string(count));
            advance();
            go_back(count % 5 == 4);
            if (testing::Test::HasFatalFailure()) return;
        }
        EXPECT_EQ(world_.ring().check(), Status::ok);
        EXPECT_EQ(world_.heap().check(), Status::ok);
    }

private:
    static constexpr Tick kMostNew = 3;
    static constexpr Tick kMostBack = 12;

    // New ticks, of which copies are kept.
    void advance() {
        const Tick ticks = 1 + random_.below(kMostNew);
        for (Tick tick = 0; tick < ticks; ++tick) {
            world_.advance(1);
            states_[world_.ring().newest()] = WholeState::of(world_);
        }
        while (states_.size() > kMostBack + 1)
            states_.erase(states_.begin());
    }

    void go_back(bool branches) {
        StateRing& ring = world_.ring();
        const Tick newest = ring.newest();
        const auto most = static_cast<std::uint32_t>(newest - states_.begin()->first);
        const Tick target = newest - 1 - random_.below(most);
        // What was begun and not committed is undone too.
        if (random_.below(2) == 0) world_.step();
        KeptFuture future;
        if (branches) {
            const auto kept = ring.branch(target);
            ASSERT_TRUE(kept) << status_name(kept.status());
            future = *kept;
        } else {
            const auto done = ring.rollback(target);
            ASSERT_TRUE(done) << status_name(done.status());
        }
        ASSERT_EQ(states_[target].difference(world_), "") << "after going back to " << target;
        while (ring.newest() < newest) {
            world_.advance(1);
            // Where the hashes are the same, the bytes are, unless somebody wrote without being noticed: the
            // last tick is compared whole.
            if (states_[ring.newest()].hash == world_.hash(ring.newest())) continue;
            ASSERT_EQ(states_[ring.newest()].difference(world_), "") << "again at " << ring.newest();
        }
        ASSERT_EQ(states_[newest].difference(world_), "") << "again at " << newest;
        if (branches) compare_and_drop(future, newest);
    }

    // The ticks left behind are the same as those simulated again.
    void compare_and_drop(KeptFuture future, Tick tick) {
        {
            const auto before = world_.ring().view(future, tick);
            const auto now = world_.ring().view(tick);
            ASSERT_TRUE(before && now);
            std::size_t differences = 0;
            StateRing::changed(*before, *now, [&](ChangedRange) { ++differences; });
            ASSERT_EQ(differences, 0U);
        }
        ASSERT_TRUE(world_.ring().drop(future));
    }

    ForeignWorld<Scene>& world_;
    Random random_;
    std::map<Tick, WholeState> states_;
};

// What every foreign library must survive, in parts that ctest runs side by side.
inline constexpr std::uint64_t kCampaignParts = 40;

inline std::uint64_t rollbacks_in_part() {
    return (std::getenv("OURO_TEST_LONG") != nullptr ? 100'000 : 1'000) / kCampaignParts;
}

// A world is begun anew after so many: scenes grow with their ticks, and would fill the segment.
inline constexpr std::uint64_t kRollbacksOfAWorld = 500;

template <class Scene>
void run_campaign(Tracking tracking, std::uint64_t rollbacks, std::uint64_t seed) {
    for (std::uint64_t done = 0; done < rollbacks; done += kRollbacksOfAWorld) {
        ForeignWorld<Scene> world;
        world.start({.tracking = tracking});
        if (testing::Test::HasFatalFailure() || testing::Test::IsSkipped()) return;
        ForeignCampaign<Scene>(world, seed).run(std::min(rollbacks - done, kRollbacksOfAWorld));
        if (testing::Test::HasFatalFailure()) return;
        seed += 1000;
    }
}

}  // namespace ouro::testing_support
