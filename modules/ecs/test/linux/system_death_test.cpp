#include "ecs_rig.hpp"

#include <ouro/ecs/schedule.hpp>
#include <ouro/memory/system_allocator.hpp>

namespace ouro {
namespace {

using namespace testing_support;

#if OURO_ASSERT_LEVEL >= 1

struct Clock {
    std::uint32_t ticks;
};

class SystemDeathTest : public EcsTest {
protected:
    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        EcsTest::SetUp();
        ada_ = *world().spawn(Position{1, 2}, Health{3});
    }
    // Runs one system, alone.
    template <class Fn>
    void run(std::string_view name, Fn system) {
        auto memory = SystemAllocator::create({.max_bytes = std::size_t{16} << 20});
        auto pool = JobPool::create({.workers = 0});
        Schedule schedule(*memory);
        schedule.add(name, system);
        static_cast<void>(schedule.run(world(), *pool));
    }

    Entity ada_;
};

TEST_F(SystemDeathTest, ReadsWhatItDidNotDeclare) {
    EXPECT_DEATH(run("spy", [&](Query<const Health&>) { static_cast<void>(world().get<Position>(ada_)); }),
                 "spy reads Position of entity 0:1");
    run("reader", [&](Query<const Position&>) { EXPECT_NE(world().get<Position>(ada_), nullptr); });
}

TEST_F(SystemDeathTest, WritesWhatItOnlyReads) {
    EXPECT_DEATH(run("thief", [&](Query<const Health&>) { static_cast<void>(world().edit<Health>(ada_)); }),
                 "thief writes Health of entity 0:1");
    EXPECT_DEATH(run("forger", [&](Res<const Clock>) { world().edit_resource<Clock>()->ticks = 1; }),
                 "forger writes Clock");
}

TEST_F(SystemDeathTest, MakesAQueryThatReachesFurther) {
    EXPECT_DEATH(run("rover",
                     [&](Query<const Health&, With<Frozen>>) {
                         static_cast<void>(Query<const Health&>(world()).count());
                     }),
                 "reaches further than the parameters of its system: rover reads Health");
    ASSERT_TRUE(world().component<Frozen>());
    run("homebody", [&](Query<const Health&>) {
        EXPECT_EQ((Query<const Health&, Without<Frozen>>(world()).count()), 1U);
    });
}

TEST_F(SystemDeathTest, ChangesTheStructure) {
    EXPECT_DEATH(run("butcher", [&](Query<const Health&>) { world().destroy(ada_); }),
                 "record structural changes as commands: butcher changes entity 0:1");
    EXPECT_DEATH(run("stork", [&](Query<const Health&>) { static_cast<void>(world().spawn(Health{1})); }),
                 "stork changes a new entity");
}

TEST_F(SystemDeathTest, DestroysWhatIsBeingVisited) {
    EXPECT_DEATH(
        run("saw", [&](World& all) { Query<Entity>(all).each([&](Entity self) { all.destroy(self); }); }),
        "rows are being visited: .*entity 0:1 in saw");
    EXPECT_DEATH(Query<Entity>(world()).each([&](Entity self) { world().destroy(self); }),
                 "rows are being visited: .*entity 0:1");
}

TEST_F(SystemDeathTest, UsesEntitiesThatItsFiltersDoNotLetThrough) {
    const Entity bob = *world().spawn(Position{}, Health{1}, Frozen{});
    EXPECT_DEATH(
        run("rover",
            [&](Query<const Health&, With<Frozen>>) { static_cast<void>(world().get<Health>(ada_)); }),
        "filters do not let through: rover reads Health of entity 0:1");
    EXPECT_DEATH(
        run("vandal", [&](Query<Health&, Without<Frozen>>) { static_cast<void>(world().edit<Health>(bob)); }),
        "vandal writes Health of entity 1:1");
    EXPECT_DEATH(run("guest",
                     [&](Query<const Velocity&, Optional<Position&>>) {
                         static_cast<void>(world().edit<Position>(bob));
                     }),
                 "guest writes Position of entity 1:1");
    const Entity prefab = *world().spawn(Health{1}, Prefab{});
    EXPECT_DEATH(run("forger", [&](Query<Health&>) { static_cast<void>(world().edit<Health>(prefab)); }),
                 "forger writes Health of entity 2:1");
    run("smith", [&](Query<Health&, With<Prefab>>) { EXPECT_NE(world().edit<Health>(prefab), nullptr); });
    run("homebody", [&](Query<const Health&, With<Frozen>>, Query<Health&, Without<Frozen>>) {
        EXPECT_NE(world().get<Health>(bob), nullptr);
        EXPECT_NE(world().edit<Health>(ada_), nullptr);
    });
}

TEST_F(SystemDeathTest, MakesKnownWhatTheWorldDoesNotKnow) {
    EXPECT_DEATH(
        run("dreamer", [&](Query<const Health&>) { static_cast<void>(world().component<Genome>()); }),
        "does not know yet: dreamer asks for Genome");
    run("looker",
        [&](Query<const Health&>) { EXPECT_EQ((Query<const Health&, With<Genome>>(world()).count()), 0U); });
    run("grower", [&](World& all) { EXPECT_EQ((Query<With<Genome>>(all).count()), 0U); });
}

struct OtherHealth {
    double points;
};

}  // namespace

template <>
inline constexpr ComponentOptions kComponentOptions<OtherHealth> = {.name = "Health"};

namespace {

TEST_F(SystemDeathTest, AsksForWhatTheWorldCannotHave) {
    EXPECT_DEATH(static_cast<void>(Query<const OtherHealth&>(world()).count()),
                 "cannot be in this world: .*OtherHealth, whose name in the world is that of .*Health");
    EXPECT_DEATH(
        run("dreamer", [&](World& all) { static_cast<void>(Query<With<OtherHealth>>(all).count()); }),
        "dreamer asks for .*OtherHealth");
}

TEST_F(SystemDeathTest, ConditionsAreWatchedToo) {
    auto memory = SystemAllocator::create({.max_bytes = std::size_t{16} << 20});
    auto pool = JobPool::create({.workers = 0});
    Schedule schedule(*memory);
    schedule.add("sly", [](Res<Clock>) {}).run_if([&](Query<const Health&>) {
        return world().edit<Health>(ada_) != nullptr;
    });
    EXPECT_DEATH(static_cast<void>(schedule.run(world(), *pool)), "sly writes Health");
}

TEST_F(SystemDeathTest, WritesInALoopWhatItDoesNotHandOut) {
    rig_.commit();
    rig_.commit();
    const auto write = [&](JobPool& pool, Query<const Position&> all, Query<Health&> living) {
        all.parallel_each(
            pool, [&](const Position&) { living.visit(ada_, [](Health& health) { health.points = 1; }); });
    };
    EXPECT_DEATH(run("meddler", write), "writes what it does not hand out: .*meddler");
    const auto edit = [&](JobPool& pool, Query<const Position&> all, Query<Mut<Health>> living) {
        living.prepare();
        all.parallel_each(pool, [&](const Position&) { world().edit<Health>(ada_)->points = 2; });
    };
    EXPECT_DEATH(run("editor", edit), "writes what it does not hand out: .*editor");
    run("careful", [&](JobPool& pool, Query<const Position&> all, Query<Mut<Health>> living) {
        living.prepare();
        all.parallel_each(pool, [&](const Position&) {
            living.visit(ada_, [](Mut<Health> health) { health.edit().points = 1; });
        });
    });
    EXPECT_EQ(world().get<Health>(ada_)->points, 1);
}

TEST_F(SystemDeathTest, RecordsInALoopWithTheWrongRecorder) {
    EXPECT_DEATH(run("scribe",
                     [&](JobPool& pool, Query<Entity, const Position&> all, Commands commands) {
                         all.parallel_each(pool,
                                           [&](Entity self, const Position&) { commands.destroy(self); });
                     }),
                 "records with the Commands it is called with: scribe");
    EXPECT_DEATH(run("copyist",
                     [&](JobPool& pool, Query<Entity, const Position&> all, Commands commands) {
                         all.parallel_each(pool, [&](Entity, const Position&) {
                             all.parallel_each(pool, commands, [](Commands&, Entity, const Position&) {});
                         });
                     }),
                 "records with the Commands it is called with: copyist");
}

// Whatever is asked of it first.
TEST_F(SystemDeathTest, AWorldInThePlaceOfAnotherIsNoticed) {
    rig_.commit();
    ASSERT_TRUE(rig_.ring().rollback(0));
    EXPECT_FALSE(world().is_alive(ada_));
    auto other = World::create(rig_.ring(), {.max_entities = 20'000, .max_archetypes = 32});
    ASSERT_TRUE(other);
    constexpr const char* kTold = "another world was made in the place of this one";
    EXPECT_DEATH(static_cast<void>(world().get<Position>(ada_)), kTold);
    EXPECT_DEATH(static_cast<void>(world().edit<Position>(ada_)), kTold);
    EXPECT_DEATH(static_cast<void>(world().has<Position>(ada_)), kTold);
    EXPECT_DEATH(static_cast<void>(world().is_alive(ada_)), kTold);
    EXPECT_DEATH(static_cast<void>(world().spawn(Position{})), kTold);
    EXPECT_DEATH(static_cast<void>(world().destroy(ada_)), kTold);
    EXPECT_DEATH(static_cast<void>(Query<const Position&>(world()).count()), kTold);
    EXPECT_EQ(world().commit().status(), Status::not_found);
    EXPECT_TRUE(other->spawn(Position{}));
}

TEST_F(SystemDeathTest, NamesAPendingEntityTooLate) {
    auto queue = CommandQueue::create();
    ASSERT_TRUE(queue);
    Commands commands = queue->commands();
    const PendingEntity bob = commands.spawn(Health{1});
    EXPECT_EQ(queue->merge(world()).applied, 1U);
    EXPECT_DEATH(commands.destroy(bob), "named after its barrier");
    EXPECT_DEATH(run("latecomer", [&](Commands) { commands.destroy(bob); }),
                 "named after its barrier: latecomer");
}

#endif

}  // namespace
}  // namespace ouro
