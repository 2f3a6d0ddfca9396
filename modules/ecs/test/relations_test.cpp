#include "ecs_rig.hpp"

#include <ouro/base/random.hpp>
#include <ouro/ecs/relations.hpp>

#include <map>
#include <vector>

namespace ouro {
namespace {

using namespace testing_support;

// Those who are targeted go alone.
struct Targets {};
// Followers go along, in circles too.
struct LeansOn {};

}  // namespace

template <>
inline constexpr RelationOptions kRelationOptions<LeansOn> = {.sources = OnTargetGone::follow,
                                                              .allows_cycles = true};

namespace {

class RelationsTest : public EcsTest {
protected:
    Entity spawn() { return *world().spawn(Health{1}); }
    std::vector<Entity> children(Entity parent) {
        std::vector<Entity> seen;
        each_source<ChildOf>(world(), parent, [&](Entity child) { seen.push_back(child); });
        EXPECT_EQ(seen.size(), count_sources<ChildOf>(world(), parent));
        return seen;
    }
};

TEST_F(RelationsTest, SourcesComeInTheOrderInWhichTheyWereRelated) {
    const Entity car = spawn();
    const Entity a = spawn();
    const Entity b = spawn();
    const Entity c = spawn();
    EXPECT_TRUE(target<ChildOf>(world(), a).is_null());
    EXPECT_EQ(unrelate<ChildOf>(world(), a), Status::not_found);
    for (const Entity child : {b, a, c})
        ASSERT_EQ(relate<ChildOf>(world(), child, car), Status::ok);
    EXPECT_EQ(children(car), (std::vector<Entity>{b, a, c}));
    EXPECT_EQ(target<ChildOf>(world(), a), car);
    rig_.commit();
    ASSERT_EQ(unrelate<ChildOf>(world(), a), Status::ok);
    EXPECT_EQ(children(car), (std::vector<Entity>{b, c}));
    // Again to the same one changes nothing, to another one moves it.
    ASSERT_EQ(relate<ChildOf>(world(), b, car), Status::ok);
    EXPECT_EQ(children(car), (std::vector<Entity>{b, c}));
    ASSERT_EQ(relate<ChildOf>(world(), b, a), Status::ok);
    EXPECT_EQ(children(car), std::vector<Entity>{c});
    EXPECT_EQ(children(a), std::vector<Entity>{b});
    rig_.commit();
    ASSERT_EQ(unrelate<ChildOf>(world(), c), Status::ok);
    EXPECT_FALSE(world().has<Sources<ChildOf>>(car));
    EXPECT_EQ((Query<const Link<ChildOf>&, const Health&>(world()).count()), 1U);
    rig_.commit();
}

TEST_F(RelationsTest, CyclesAreRefused) {
    const Entity a = spawn();
    const Entity b = spawn();
    const Entity c = spawn();
    EXPECT_EQ(relate<ChildOf>(world(), a, a), Status::bad_argument);
    ASSERT_EQ(relate<ChildOf>(world(), b, a), Status::ok);
    ASSERT_EQ(relate<ChildOf>(world(), c, b), Status::ok);
    EXPECT_EQ(relate<ChildOf>(world(), a, c), Status::bad_argument);
    EXPECT_EQ(relate<ChildOf>(world(), a, b), Status::bad_argument);
    EXPECT_TRUE(target<ChildOf>(world(), a).is_null());
    ASSERT_EQ(world().destroy(b), Status::ok);
    EXPECT_EQ(relate<ChildOf>(world(), a, b), Status::stale_handle);
    EXPECT_EQ(relate<ChildOf>(world(), b, a), Status::stale_handle);
    rig_.commit();
}

TEST_F(RelationsTest, SourcesFollowOrStay) {
    const Entity hunter = spawn();
    const Entity prey = spawn();
    const Entity tail = spawn();
    const Entity tip = spawn();
    ASSERT_EQ(relate<Targets>(world(), hunter, prey), Status::ok);
    ASSERT_EQ(relate<ChildOf>(world(), tail, prey), Status::ok);
    ASSERT_EQ(relate<ChildOf>(world(), tip, tail), Status::ok);
    rig_.commit();
    ASSERT_EQ(world().destroy(prey), Status::ok);
    EXPECT_TRUE(world().is_alive(hunter));
    EXPECT_TRUE(target<Targets>(world(), hunter).is_null());
    EXPECT_FALSE(world().is_alive(tail));
    EXPECT_FALSE(world().is_alive(tip));
    EXPECT_EQ(world().stats().entities, 1U);
    rig_.commit();
}

TEST_F(RelationsTest, CirclesGoAsAWhole) {
    const Entity a = spawn();
    const Entity b = spawn();
    const Entity c = spawn();
    const Entity d = spawn();
    ASSERT_EQ(relate<LeansOn>(world(), a, b), Status::ok);
    ASSERT_EQ(relate<LeansOn>(world(), b, c), Status::ok);
    ASSERT_EQ(relate<LeansOn>(world(), c, a), Status::ok);
    // Over two relations as well.
    ASSERT_EQ(relate<ChildOf>(world(), d, b), Status::ok);
    ASSERT_EQ(relate<ChildOf>(world(), b, a), Status::ok);
    ASSERT_EQ(world().destroy(a), Status::ok);
    EXPECT_EQ(world().stats().entities, 0U);
    rig_.commit();
}

TEST_F(RelationsTest, ADeepTreeNeedsNoDeepStack) {
    std::vector<Entity> chain{spawn()};
    for (int i = 1; i < 15'000; ++i) {
        chain.push_back(spawn());
        ASSERT_EQ(relate<ChildOf>(world(), chain.back(), chain[chain.size() - 2]), Status::ok);
    }
    rig_.commit();
    ASSERT_EQ(world().destroy(chain[1]), Status::ok);
    EXPECT_EQ(world().stats().entities, 1U);
    rig_.commit();
}

TEST_F(RelationsTest, EachMayDestroyWhatItGets) {
    const Entity parent = spawn();
    for (int i = 0; i < 10; ++i)
        ASSERT_EQ(relate<ChildOf>(world(), spawn(), parent), Status::ok);
    each_source<ChildOf>(world(), parent, [&](Entity child) { (void)world().destroy(child); });
    EXPECT_EQ(world().stats().entities, 1U);
    EXPECT_EQ(count_sources<ChildOf>(world(), parent), 0U);
    rig_.commit();
}

TEST_F(RelationsTest, AFullSegmentIsAStatusAndNothingIsLost) {
    EcsRig small(std::uint64_t{1} << 20, {.max_entities = 30'000, .max_archetypes = 16});
    ASSERT_TRUE(small.is_ready());
    std::vector<Entity> entities;
    while (entities.size() < 15'000)
        entities.push_back(*small.world().spawn(Health{1}));
    Status last = Status::ok;
    std::size_t count = 0;
    for (; count + 1 < entities.size(); ++count) {
        last = relate<ChildOf>(small.world(), entities[count + 1], entities[count]);
        if (last != Status::ok) break;
    }
    EXPECT_EQ(last, Status::capacity_exhausted);
    EXPECT_TRUE(target<ChildOf>(small.world(), entities[count + 1]).is_null());
    EXPECT_EQ(count_sources<ChildOf>(small.world(), entities[count]), 0U);
    small.commit();
}

// What the relation should be, in maps.
class RelationsModelTest : public RelationsTest {
protected:
    struct Model {
        std::vector<Entity> alive;
        std::map<std::uint64_t, Entity> parent_of;
    };

    [[nodiscard]] bool leads(Entity from, Entity to) {
        const auto& parents = model_.parent_of;
        for (; from != to; from = parents.at(from.bits()))
            if (!parents.contains(from.bits())) return false;
        return true;
    }
    Entity any() { return model_.alive[random_.next() % model_.alive.size()]; }

    void destroy_one() {
        const Entity gone = any();
        ASSERT_EQ(world().destroy(gone), Status::ok);
        std::erase_if(model_.alive, [&](Entity entity) {
            const bool follows = leads(entity, gone);
            EXPECT_EQ(world().is_alive(entity), !follows);
            return follows;
        });
        std::erase_if(model_.parent_of,
                      [&](const auto& pair) { return !world().is_alive(Entity::from_bits(pair.first)); });
    }
    void step() {
        const std::uint64_t dice = random_.next() % 100;
        if (model_.alive.size() < 2 || dice < 30) {
            model_.alive.push_back(spawn());
        } else if (dice < 36) {
            destroy_one();
        } else if (dice < 50) {
            const Entity entity = any();
            const bool had_one = model_.parent_of.erase(entity.bits()) == 1;
            EXPECT_EQ(unrelate<ChildOf>(world(), entity), had_one ? Status::ok : Status::not_found);
        } else {
            const Entity child = any();
            const Entity parent = any();
            const bool is_cycle = leads(parent, child);
            EXPECT_EQ(relate<ChildOf>(world(), child, parent), is_cycle ? Status::bad_argument : Status::ok);
            if (!is_cycle) model_.parent_of[child.bits()] = parent;
        }
    }
    void compare() {
        for (const Entity entity : model_.alive) {
            const auto found = model_.parent_of.find(entity.bits());
            const Entity expected = found == model_.parent_of.end() ? Entity() : found->second;
            ASSERT_EQ(target<ChildOf>(world(), entity), expected);
        }
    }

    static constexpr std::uint64_t kSeed = 23;
    Random random_{kSeed};
    Model model_;
};

TEST_F(RelationsModelTest, RandomOperationsMatchAMap) {
    SCOPED_TRACE("seed " + std::to_string(kSeed));
    Tick kept = rig_.commit();
    auto kept_bytes = rig_.bytes();
    Model kept_model = model_;
    for (int round = 0; round < 12; ++round) {
        for (int i = 0; i < 500; ++i)
            step();
        compare();
        const Tick tick = rig_.commit();
        if (round % 3 == 2) {
            ASSERT_TRUE(rig_.ring().rollback(kept));
            ASSERT_TRUE(rig_.bytes() == kept_bytes);
            model_ = kept_model;
        } else {
            kept = tick;
            kept_bytes = rig_.bytes();
            kept_model = model_;
        }
    }
}

TEST_F(RelationsTest, CheckFindsDamage) {
    const Entity car = spawn();
    const Entity a = spawn();
    const Entity b = spawn();
    ASSERT_EQ(relate<ChildOf>(world(), a, car), Status::ok);
    ASSERT_EQ(relate<ChildOf>(world(), b, car), Status::ok);
    ASSERT_EQ(world().check(), Status::ok);
    auto& link = const_cast<Link<ChildOf>&>(*world().get<Link<ChildOf>>(b));
    const Link<ChildOf> kept = link;
    link.previous = 0;
    EXPECT_EQ(world().check(), Status::corrupt_data);
    link = kept;
    link.next = static_cast<std::uint32_t>(a.index()) + 1;
    EXPECT_EQ(world().check(), Status::corrupt_data);
    link = kept;
    link.target = a;
    EXPECT_EQ(world().check(), Status::corrupt_data);
    link = kept;
    EXPECT_EQ(world().check(), Status::ok);
}

}  // namespace
}  // namespace ouro
