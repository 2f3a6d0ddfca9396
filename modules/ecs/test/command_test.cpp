#include "ecs_rig.hpp"

#include <ouro/base/random.hpp>
#include <ouro/ecs/command_queue.hpp>

namespace ouro {
namespace {

using namespace testing_support;

class CommandTest : public EcsTest {
protected:
    void SetUp() override {
        EcsTest::SetUp();
        auto queue = CommandQueue::create({.participants = 2, .systems = 3});
        ASSERT_TRUE(queue) << status_name(queue.status());
        queue_.emplace(*std::move(queue));
    }
    CommandReport merge() { return queue_->merge(world()); }

    std::optional<CommandQueue> queue_;
};

TEST_F(CommandTest, NothingHappensBeforeTheBarrier) {
    const Entity ada = *world().spawn(Position{1, 2});
    Commands commands = queue_->commands();
    const PendingEntity bob = commands.spawn(Position{3, 4}, Frozen{});
    commands.add(ada, Health{5});
    commands.destroy(ada);
    EXPECT_TRUE(bob.entity().is_null());
    EXPECT_EQ(world().stats().entities, 1U);
    EXPECT_FALSE(world().has<Health>(ada));
    const CommandReport report = merge();
    EXPECT_EQ(report.status, Status::ok);
    EXPECT_EQ(report.applied, 3U);
    EXPECT_FALSE(world().is_alive(ada));
    EXPECT_EQ(world().stats().entities, 1U);
    EXPECT_EQ((Query<Position&, With<Frozen>>(world()).count()), 1U);
    EXPECT_EQ(merge().applied, 0U);
    rig_.commit();
}

TEST_F(CommandTest, PendingEntitiesCanBeNamed) {
    Commands commands = queue_->commands();
    const PendingEntity ada = commands.spawn();
    commands.add(ada, Health{7});
    commands.add<Frozen>(ada);
    const PendingEntity bob = commands.spawn(Health{1}, Alert{2});
    commands.disable<Alert>(bob);
    commands.remove<Health>(bob);
    commands.destroy(commands.spawn(Position{}));
    const Entity observer = *world().spawn(Genome{});
    commands.call(
        [observer, ada](World& world) { world.edit<Genome>(observer)->genes[0] = ada.entity().bits(); });
    const CommandReport report = merge();
    EXPECT_EQ(report.skipped + report.failed, 0U);
    const Entity made = Entity::from_bits(world().get<Genome>(observer)->genes[0]);
    ASSERT_TRUE(world().is_alive(made));
    EXPECT_EQ(world().get<Health>(made)->points, 7);
    EXPECT_TRUE(world().has<Frozen>(made));
    EXPECT_EQ((Query<const Alert&>(world()).count()), 0U);
    EXPECT_EQ((Query<const Health&>(world()).count()), 1U);
    EXPECT_EQ(world().stats().entities, 3U);
    rig_.commit();
}

TEST_F(CommandTest, WhatIsGoneIsPassedOverAndCounted) {
    const Entity ada = *world().spawn(Health{1});
    const Entity bob = *world().spawn(Health{2});
    queue_->commands(0).destroy(ada);
    Commands later = queue_->commands(1);
    later.remove<Position>(bob);
    later.destroy(ada);
    later.add(ada, Position{});
    later.add(bob, Position{});
    const CommandReport report = merge();
    EXPECT_EQ(report.status, Status::ok);
    EXPECT_EQ(report.applied, 2U);
    EXPECT_EQ(report.skipped, 3U);
    EXPECT_EQ(report.skipped_system, 1U);
    EXPECT_EQ(report.skipped_entity, bob);
}

TEST_F(CommandTest, SystemsComeInTheirOrderWhoeverRecordedFirst) {
    queue_->commands(2, 0).spawn(Health{30});
    queue_->commands(0, 1).spawn(Health{10});
    queue_->commands(1, 0).spawn(Health{20});
    queue_->commands(0, 0).spawn(Health{11});
    EXPECT_EQ(merge().applied, 4U);
    std::vector<int> points;
    Query<const Health&>(world()).each([&](const Health& health) { points.push_back(health.points); });
    EXPECT_EQ(points, (std::vector<int>{10, 11, 20, 30}));
}

TEST_F(CommandTest, PartsOfALoopComeInTheOrderOfTheirRows) {
    Commands commands = queue_->commands(0, 0);
    commands.spawn(Health{1});
    {
        const detail::CommandSection section(commands.stream());
        for (const unsigned row : {640U, 64U, 0U, 128U}) {
            auto stream = section.part(row, row % 3 % 2);
            Commands(stream).spawn(Health{static_cast<int>(100 + row)});
            Commands(stream).spawn(Health{static_cast<int>(101 + row)});
        }
    }
    commands.spawn(Health{2});
    EXPECT_EQ(merge().applied, 10U);
    std::vector<int> points;
    Query<const Health&>(world()).each([&](const Health& health) { points.push_back(health.points); });
    EXPECT_EQ(points, (std::vector<int>{1, 100, 101, 164, 165, 228, 229, 740, 741, 2}));
}

TEST_F(CommandTest, WhatCannotBeRecordedIsToldAtTheBarrierAndNothingIsDone) {
    auto small = CommandQueue::create({.max_bytes = 10'000});
    ASSERT_TRUE(small);
    Commands commands = small->commands();
    for (int i = 0; i < 100'000; ++i)
        commands.add<Frozen>(commands.spawn(Genome{}));
    const CommandReport report = small->merge(world());
    EXPECT_EQ(report.status, Status::capacity_exhausted);
    EXPECT_EQ(report.applied, 0U);
    EXPECT_EQ(report.dropped, 200'000U);
    EXPECT_EQ(world().stats().entities, 0U);
    commands.spawn(Health{1});
    EXPECT_EQ(small->merge(world()).applied, 1U);
}

TEST_F(CommandTest, HowMuchFitsDoesNotDependOnHowItIsSharedOut) {
    // Each counts 40 bytes and a word, on every platform.
    constexpr unsigned kFitting = 1'000;
    for (const unsigned lanes : {1U, 2U, 3U, 8U}) {
        auto queue = CommandQueue::create({.participants = lanes, .max_bytes = kFitting * 48});
        ASSERT_TRUE(queue);
        for (const unsigned more : {0U, 1U}) {
            const unsigned before = world().stats().entities;
            Commands commands = queue->commands();
            const detail::CommandSection section(commands.stream());
            for (unsigned row = 0; row < kFitting + more; ++row) {
                auto stream = section.part(row, row * 7 % lanes);
                Commands(stream).spawn(Health{1});
            }
            const CommandReport report = queue->merge(world());
            EXPECT_EQ(report.status, more == 0 ? Status::ok : Status::capacity_exhausted) << lanes;
            EXPECT_EQ(report.applied, more == 0 ? kFitting : 0U) << lanes;
            EXPECT_EQ(report.dropped, more == 0 ? 0U : kFitting + more) << lanes;
            EXPECT_EQ(world().stats().entities - before, report.applied);
        }
    }
}

struct alignas(64) Line {
    std::array<std::uint64_t, 8> words;
};

TEST_F(CommandTest, WhatFitsHasRoomAlsoWhereValuesAreAlignedAndRunsAreShort) {
    constexpr unsigned kFitting = 500;
    constexpr std::size_t kBytes = detail::counted_bytes<Line, Health>() + detail::counted_bytes<Frozen>();
    auto queue = CommandQueue::create({.max_bytes = kFitting * kBytes});
    ASSERT_TRUE(queue);
    Commands commands = queue->commands();
    for (unsigned i = 0; i < kFitting; ++i) {
        const PendingEntity made = commands.spawn(Line{}, Health{1});
        commands.stream().begin_section();
        commands.add<Frozen>(made);
        commands.stream().begin_section();
    }
    const CommandReport report = queue->merge(world());
    EXPECT_EQ(report.status, Status::ok);
    EXPECT_EQ(report.applied, 2 * kFitting);
}

TEST(CommandWorldTest, AFullWorldFailsTheCommandsThatItHasNoRoomFor) {
    EcsRig rig(std::uint64_t{8} << 20, {.max_entities = 2, .max_archetypes = 8});
    ASSERT_TRUE(rig.is_ready());
    auto queue = CommandQueue::create({.systems = 2});
    ASSERT_TRUE(queue);
    Commands commands = queue->commands(1);
    for (int i = 0; i < 3; ++i)
        commands.add(commands.spawn(Health{i}), Position{});
    const CommandReport report = queue->merge(rig.world());
    EXPECT_EQ(report.status, Status::capacity_exhausted);
    EXPECT_EQ(report.failed_system, 1U);
    EXPECT_EQ(report.failed, 1U);
    EXPECT_EQ(report.skipped, 1U);
    EXPECT_EQ(report.applied, 4U);
    EXPECT_EQ(rig.world().check(), Status::ok);
}

TEST_F(CommandTest, MemoryIsUsedAgain) {
    const Entity ada = *world().spawn(Health{1});
    std::size_t high_water = 0;
    for (int round = 0; round < 20; ++round) {
        Commands commands = queue_->commands(0);
        for (int i = 0; i < 500; ++i)
            commands.add(ada, Health{i});
        EXPECT_EQ(merge().applied, 500U);
        if (round == 0) high_water = queue_->high_water_bytes();
    }
    EXPECT_GT(high_water, 500 * sizeof(Health));
    EXPECT_EQ(queue_->high_water_bytes(), high_water);
}

// The same changes made at once in one world, and recorded for another.
class TwoWorlds {
public:
    explicit TwoWorlds(std::uint64_t seed) : random_(seed) {}

    void round(CommandQueue& queue) {
        direct_names_.clear();
        pending_.clear();
        Commands commands = queue.commands();
        for (int i = 0; i < 60; ++i)
            change(commands);
        const CommandReport report = queue.merge(recorded.world());
        EXPECT_EQ(report.skipped, skipped_);
        EXPECT_EQ(report.status, Status::ok);
        skipped_ = 0;
        for (const Entity entity : direct_names_)
            known_.push_back(entity);
        direct.commit();
        recorded.commit();
        EXPECT_EQ(direct.bytes(), recorded.bytes());
    }

    EcsRig direct;
    EcsRig recorded;

private:
    std::uint32_t below(std::uint32_t limit) { return random_.below(limit); }
    void count(Status status) { skipped_ += status == Status::ok ? 0U : 1U; }

    void change(Commands& commands) {
        World& world = direct.world();
        const auto value = static_cast<std::int32_t>(below(100));
        const std::uint32_t kind = below(8);
        if (kind < 2 || known_.empty()) {
            direct_names_.push_back(kind == 0 ? *world.spawn(Health{value}, Alert{1})
                                              : *world.spawn(Position{1, 2}));
            pending_.push_back(kind == 0 ? commands.spawn(Health{value}, Alert{1})
                                         : commands.spawn(Position{1, 2}));
            return;
        }
        const bool is_new = !pending_.empty() && below(3) == 0;
        const std::uint32_t at = below(static_cast<std::uint32_t>(is_new ? pending_.size() : known_.size()));
        const Entity entity = is_new ? direct_names_[at] : known_[at];
        const CommandTarget target = is_new ? CommandTarget(pending_[at]) : CommandTarget(entity);
        switch (kind) {
            case 2:
                commands.destroy(target);
                return count(world.destroy(entity));
            case 3:
                commands.add(target, Health{value});
                return count(world.add(entity, Health{value}).status());
            case 4:
                commands.add<Frozen>(target);
                return count(world.add<Frozen>(entity).status());
            case 5:
                commands.remove<Health>(target);
                return count(world.remove<Health>(entity).status());
            case 6:
                commands.disable<Alert>(target);
                return count(world.disable<Alert>(entity).status());
            default:
                commands.enable<Alert>(target);
                return count(world.enable<Alert>(entity).status());
        }
    }

    Random random_;
    std::vector<Entity> known_;
    std::vector<Entity> direct_names_;
    std::vector<PendingEntity> pending_;
    std::uint32_t skipped_ = 0;
};

TEST(CommandModelTest, ALateChangeIsTheSameChange) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        TwoWorlds worlds(seed);
        ASSERT_TRUE(worlds.direct.is_ready() && worlds.recorded.is_ready());
        auto queue = CommandQueue::create();
        ASSERT_TRUE(queue);
        for (int round = 0; round < 15 && !testing::Test::HasFailure(); ++round)
            worlds.round(*queue);
    }
}

}  // namespace
}  // namespace ouro
