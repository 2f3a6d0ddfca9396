#include "ecs_rig.hpp"

#include <ouro/ecs/batches.hpp>
#include <ouro/ecs/observers.hpp>
#include <ouro/ecs/past_world.hpp>
#include <ouro/ecs/prefabs.hpp>
#include <ouro/ecs/reader_query.hpp>
#include <ouro/jobs/job_pool.hpp>

#include <functional>
#include <utility>
#include <vector>

namespace ouro {
namespace {

using namespace testing_support;

// Each cell of the table of switched components in docs/ecs.md. Entities have an Alert that is on, or one
// that is off, or none; every fifth burns.
class SwitchedTest : public EcsTest {
protected:
    void SetUp() override {
        EcsTest::SetUp();
        for (std::int32_t i = 0; i < kCount; ++i) {
            const auto level = static_cast<std::uint32_t>(i);
            const Entity entity = kind_of(i) == Kind::none ? *world().spawn(Health{i})
                                                           : *world().spawn(Health{i}, Alert{level});
            if (kind_of(i) == Kind::off) {
                ASSERT_TRUE(world().disable<Alert>(entity));
            }
            if (burns(i)) {
                ASSERT_TRUE(world().add(entity, Burning{level}));
            }
            entities_.push_back(entity);
        }
        tick_ = rig_.commit();
    }

    enum class Kind : std::uint8_t { on, off, none };
    static constexpr std::int32_t kCount = 500;
    [[nodiscard]] static Kind kind_of(std::int32_t i) {
        if (i % 3 == 0) return Kind::none;
        // Whole words of rows, and single ones.
        return (i / 100 % 2 == 0 ? i % 7 == 0 : i % 7 != 0) ? Kind::off : Kind::on;
    }
    [[nodiscard]] static bool burns(std::int32_t i) { return i % 5 == 0; }
    template <class Test>
    [[nodiscard]] static std::uint32_t count(Test&& test) {
        std::uint32_t total = 0;
        for (std::int32_t i = 0; i < kCount; ++i)
            total += test(i) ? 1U : 0U;
        return total;
    }
    [[nodiscard]] static std::uint32_t count(Kind kind) {
        return count([&](std::int32_t i) { return kind_of(i) == kind; });
    }
    static void expect_optional(const Health& health, const Alert* alert) {
        ASSERT_EQ(alert != nullptr, kind_of(health.points) == Kind::on) << health.points;
        if (alert != nullptr) {
            ASSERT_EQ(alert->level, static_cast<std::uint32_t>(health.points));
        }
    }
    static void expect_spans(std::span<const Health> healths, std::span<const Alert> alerts) {
        ASSERT_TRUE(alerts.empty() || alerts.size() == healths.size());
        for (std::size_t i = 0; i < healths.size(); ++i)
            expect_optional(healths[i], alerts.empty() ? nullptr : &alerts[i]);
    }
    // That those without an Alert that is on have so many points more than at first, and the others none.
    void expect_points(std::int32_t more) {
        for (std::int32_t i = 0; i < kCount; ++i)
            ASSERT_EQ(world().get<Health>(entities_[static_cast<std::size_t>(i)])->points,
                      kind_of(i) == Kind::on ? i : i + more);
    }
    WorldReader reader() {
        const MemoryBlock image = rig_.ring().image();
        return *WorldReader::open(std::span<const std::byte>(image.data, image.size));
    }

    // How many rows were checked since this was asked last.
    std::uint32_t take_visits() { return std::exchange(visits_, 0); }

    static constexpr auto kAll = static_cast<std::uint32_t>(kCount);
    std::uint32_t visits_ = 0;
    const std::function<void(const Health&, const Alert*)> check_ = [this](const Health& health,
                                                                           const Alert* alert) {
        expect_optional(health, alert);
        ++visits_;
    };
    const std::function<void(std::span<const Health>, std::span<const Alert>)> check_spans_ =
        [this](std::span<const Health> healths, std::span<const Alert> alerts) {
            expect_spans(healths, alerts);
            visits_ += static_cast<std::uint32_t>(healths.size());
        };
    std::vector<Entity> entities_;
    Tick tick_ = 0;
};

TEST_F(SwitchedTest, AreNotRequiredOnes) {
    const std::uint32_t on = count(Kind::on);
    EXPECT_EQ((Query<const Alert&>(world()).count()), on);
    EXPECT_EQ((Query<Mut<Alert>>(world()).count()), on);
    EXPECT_EQ((Query<With<Alert>>(world()).count()), on);
    const auto past = world().at(tick_);
    EXPECT_EQ((past->query<const Alert&>().count()), on);
    EXPECT_EQ((past->query<With<Alert>>().count()), on);
    const WorldReader bytes = reader();
    EXPECT_EQ(*(ReaderQuery<const Alert&>(bytes).count()), on);
    EXPECT_EQ(*(ReaderQuery<With<Alert>>(bytes).count()), on);
}

TEST_F(SwitchedTest, AreNullWhereTheyAreOptional) {
    using All = Query<const Health&, Optional<const Alert&>>;
    All(world()).each(check_);
    EXPECT_EQ(take_visits(), kAll);
    All(world()).chunks(check_spans_);
    EXPECT_EQ(take_visits(), kAll);
    EXPECT_EQ(All(world()).visit(std::span<const Entity>(entities_), check_), kAll);
    EXPECT_EQ(take_visits(), kAll);
    for (const Entity entity : entities_)
        EXPECT_TRUE(All(world()).visit(entity, check_));
    EXPECT_EQ(take_visits(), kAll);
    Query<const Health&, Optional<const Alert&>, const Burning&>(world()).each(
        [&](const Health& health, const Alert* alert, const Burning&) { check_(health, alert); });
    EXPECT_EQ(take_visits(), count(burns));
}

TEST_F(SwitchedTest, AreNullWhereTheyAreOptionalInThePastAndInBytes) {
    const auto past = world().at(tick_)->query<const Health&, Optional<const Alert&>>();
    past.each(check_);
    EXPECT_EQ(take_visits(), kAll);
    past.chunks(check_spans_);
    EXPECT_EQ(take_visits(), kAll);
    for (const Entity entity : entities_)
        EXPECT_TRUE(past.visit(entity, check_));
    EXPECT_EQ(take_visits(), kAll);
    world().at(tick_)->query<const Health&, Optional<const Alert&>, With<Burning>>().each(check_);
    EXPECT_EQ(take_visits(), count(burns));
    const WorldReader bytes = reader();
    EXPECT_EQ((ReaderQuery<const Health&, Optional<const Alert&>>(bytes).each(check_)), Status::ok);
    EXPECT_EQ(take_visits(), kAll);
    EXPECT_EQ((ReaderQuery<const Health&, Optional<const Alert&>, With<Burning>>(bytes).each(check_)),
              Status::ok);
    EXPECT_EQ(take_visits(), count(burns));
}

TEST_F(SwitchedTest, PassWithoutThem) {
    const auto is_not_on = [](std::int32_t i) { return kind_of(i) != Kind::on; };
    const auto burns_without = [&](std::int32_t i) { return is_not_on(i) && burns(i); };
    const auto check = [&](const Health& health) {
        EXPECT_TRUE(is_not_on(health.points)) << health.points;
        ++visits_;
    };
    const Query<const Health&, Without<Alert>> query(world());
    query.each(check);
    EXPECT_EQ(take_visits(), count(is_not_on));
    EXPECT_EQ(query.count(), count(is_not_on));
    EXPECT_EQ((Query<With<Burning>, Without<Alert>>(world()).count()), count(burns_without));
    for (std::int32_t i = 0; i < kCount; ++i)
        EXPECT_EQ(query.has(entities_[static_cast<std::size_t>(i)]), is_not_on(i));
    auto pool = JobPool::create({.workers = 0});
    ASSERT_TRUE(pool);
    Query<Health&, Without<Alert>>(world()).parallel_each(*pool,
                                                          [](Health& health) { health.points += 1'000; });
    expect_points(1'000);
    Query<Health&, Without<Alert>>(world()).each([](Health& health) { health.points -= 1'000; });
    expect_points(0);

    const auto past = world().at(tick_)->query<const Health&, Without<Alert>>();
    past.each(check);
    EXPECT_EQ(take_visits(), count(is_not_on));
    EXPECT_EQ(past.count(), count(is_not_on));
    for (std::int32_t i = 0; i < kCount; ++i)
        EXPECT_EQ(past.has(entities_[static_cast<std::size_t>(i)]), is_not_on(i));
    EXPECT_EQ((world().at(tick_)->query<With<Burning>, Without<Alert>>().count()), count(burns_without));
    const WorldReader bytes = reader();
    EXPECT_EQ(*(ReaderQuery<const Health&, Without<Alert>>(bytes).count()), count(is_not_on));
    EXPECT_EQ(*(ReaderQuery<With<Burning>, Without<Alert>>(bytes).count()), count(burns_without));
    // Batches ask the same.
    EXPECT_EQ(destroy_all(Query<Without<Alert>>(world())), count(is_not_on));
    EXPECT_EQ(world().stats().entities, count(Kind::on));
    rig_.commit();
}

TEST_F(SwitchedTest, AreThereForWhoAsksTheEntity) {
    const auto past = world().at(tick_);
    for (std::int32_t i = 0; i < kCount; ++i) {
        const Entity entity = entities_[static_cast<std::size_t>(i)];
        const bool has = kind_of(i) != Kind::none;
        const bool is_on = kind_of(i) == Kind::on;
        ASSERT_EQ(world().has<Alert>(entity), has);
        ASSERT_EQ(world().get<Alert>(entity) != nullptr, has);
        ASSERT_EQ(world().edit<Alert>(entity) != nullptr, has);
        ASSERT_EQ(world().is_enabled<Alert>(entity), is_on);
        ASSERT_EQ(past->has<Alert>(entity), has);
        ASSERT_EQ(past->get<Alert>(entity).has_value(), has);
        ASSERT_EQ(past->is_enabled<Alert>(entity), is_on);
    }
    rig_.commit();
}

TEST_F(SwitchedTest, AreNotAmongTheChanged) {
    rig_.commit();
    rig_.commit();
    for (const Entity entity : entities_)
        if (Alert* const alert = world().edit<Alert>(entity)) alert->level += 1;
    const std::uint32_t since = world().tick();
    const std::uint32_t on = count(Kind::on);
    EXPECT_EQ((Query<Changed<Alert>>(world()).count()), on);
    EXPECT_EQ((Query<ChangedNow<Alert>>(world()).count()), on);
    EXPECT_EQ((Query<const Alert&>(world()).count_changed_since<Alert>(since)), on);
    const Tick tick = rig_.commit();
    const auto past = world().at(tick);
    EXPECT_EQ((past->query<Changed<Alert>>().count()), on);
    EXPECT_EQ((past->query<ChangedNow<Alert>>().count()), on);
    EXPECT_EQ((past->query<const Alert&>().count_changed_since<Alert>(since)), on);
    // Switching on is no change of a value: they are among those of the tick before.
    for (const Entity entity : entities_)
        if (world().has<Alert>(entity)) {
            ASSERT_TRUE(world().enable<Alert>(entity));
        }
    EXPECT_EQ((Query<Changed<Alert>>(world()).count()), on + count(Kind::off));
    EXPECT_EQ((Query<ChangedNow<Alert>>(world()).count()), 0U);
}

TEST_F(SwitchedTest, WhatIsNotHandedOutDoesNotCountAsChanged) {
    rig_.commit();
    rig_.commit();
    auto pool = JobPool::create({.workers = 0});
    ASSERT_TRUE(pool);
    const auto raise = [](Health&, Alert* alert) {
        if (alert != nullptr) alert->level += 1;
    };
    for (int round = 0; round < 3; ++round) {
        const Query<Health&, Optional<Alert&>> query(world());
        if (round == 0) query.each(raise);
        if (round == 1) query.parallel_each(*pool, raise);
        if (round == 2)
            query.chunks([](std::span<Health> healths, std::span<Alert> alerts) {
                ASSERT_TRUE(alerts.empty() || alerts.size() == healths.size());
                for (Alert& alert : alerts)
                    alert.level += 1;
            });
        for (const Entity entity : entities_)
            if (world().has<Alert>(entity) && !world().is_enabled<Alert>(entity)) {
                ASSERT_TRUE(world().enable<Alert>(entity));
            }
        EXPECT_EQ((Query<ChangedNow<Alert>>(world()).count()), count(Kind::on)) << round;
        for (std::int32_t i = 0; i < kCount; ++i)
            if (kind_of(i) == Kind::off) {
                ASSERT_TRUE(world().disable<Alert>(entities_[static_cast<std::size_t>(i)]));
            }
        rig_.commit();
        rig_.commit();
    }
    for (std::int32_t i = 0; i < kCount; ++i) {
        if (kind_of(i) == Kind::none) continue;
        const auto level = static_cast<std::uint32_t>(i) + (kind_of(i) == Kind::on ? 3 : 0);
        EXPECT_EQ(world().get<Alert>(entities_[static_cast<std::size_t>(i)])->level, level);
    }
}

TEST_F(SwitchedTest, StayOffWhereverTheyGo) {
    const Entity off = entities_[7];
    ASSERT_TRUE(world().has<Alert>(off) && !world().is_enabled<Alert>(off));
    const Entity copy = *clone(world(), off);
    EXPECT_TRUE(world().has<Alert>(copy) && !world().is_enabled<Alert>(copy));
    ASSERT_TRUE(world().add<Frozen>(off));
    EXPECT_TRUE(world().has<Alert>(off) && !world().is_enabled<Alert>(off));
    ASSERT_TRUE(world().remove<Health>(off));
    EXPECT_TRUE(world().has<Alert>(off) && !world().is_enabled<Alert>(off));
    // Another value is no switch; another component is.
    ASSERT_TRUE(world().add(off, Alert{3}));
    EXPECT_FALSE(world().is_enabled<Alert>(off));
    ASSERT_TRUE(world().remove<Alert>(off));
    ASSERT_TRUE(world().add(off, Alert{4}));
    EXPECT_TRUE(world().is_enabled<Alert>(off));
    rig_.commit();
    ASSERT_EQ(rig_.attach(), Status::ok);
    ASSERT_TRUE(world().component<Alert>());
    EXPECT_FALSE(world().is_enabled<Alert>(copy));
}

TEST_F(SwitchedTest, BlocksInWhichNoneIsOffAreVisitedAsWholes) {
    // 500 rows are four blocks.
    ASSERT_TRUE(world().spawn_copies(500, Position{1, 2}));
    ASSERT_TRUE(world().spawn_copies(499, Position{3, 4}, Alert{5}));
    const Entity last = *world().spawn(Position{3, 4}, Alert{5});
    const auto count_spans = [](const auto& query) {
        std::uint32_t spans = 0;
        query.chunks([&](auto&&...) { ++spans; });
        return spans;
    };
    EXPECT_EQ(count_spans(Query<Position&, Without<Alert>>(world())), 4U);
    EXPECT_EQ(count_spans(Query<Position&, const Alert&>(world())), 4U);
    EXPECT_EQ(count_spans(Query<Position&, Optional<Alert&>>(world())), 8U);
    ASSERT_TRUE(world().disable<Alert>(last));
    EXPECT_EQ(count_spans(Query<Position&, Optional<Alert&>>(world())), 9U);
    EXPECT_EQ((Query<Position&, Without<Alert>>(world()).count()), 501U);
    EXPECT_EQ((Query<Position&, const Alert&>(world()).count()), 499U);
    rig_.commit();
}

TEST_F(SwitchedTest, ObserversHearOfValuesThatAreOffToo) {
    static int told;
    told = 0;
    rig_.commit();
    ASSERT_EQ(on_change<Alert>(world(), [](World&, Entity) { ++told; }), Status::ok);
    const Entity off = entities_[7];
    ASSERT_TRUE(world().has<Alert>(off) && !world().is_enabled<Alert>(off));
    world().edit<Alert>(off)->level = 1;
    rig_.commit();
    EXPECT_EQ(told, 1);
    ASSERT_TRUE(world().enable<Alert>(off));
    rig_.commit();
    EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace ouro
