#include "ecs_rig.hpp"

#include <ouro/ecs/names.hpp>

#include <string>

namespace ouro {
namespace {

using namespace testing_support;

class NamesTest : public EcsTest {
protected:
    template <class Number>
    static std::string numbered(Number number) {
        std::string made = "n";
        return made += std::to_string(number);
    }
};

TEST_F(NamesTest, AreFoundAndAreOnesOwn) {
    const Entity ada = *world().spawn(Health{1});
    const Entity bob = *world().spawn(Health{2});
    EXPECT_TRUE(find_named(world(), "ada").is_null());
    EXPECT_EQ(name_of(world(), ada), "");
    EXPECT_EQ(clear_name(world(), ada), Status::not_found);
    ASSERT_EQ(set_name(world(), ada, "ada"), Status::ok);
    EXPECT_EQ(find_named(world(), "ada"), ada);
    EXPECT_EQ(name_of(world(), ada), "ada");
    EXPECT_EQ(set_name(world(), bob, "ada"), Status::address_in_use);
    EXPECT_EQ(set_name(world(), bob, ""), Status::bad_argument);
    EXPECT_EQ(set_name(world(), bob, std::string(32, 'x')), Status::bad_argument);
    EXPECT_EQ(set_name(world(), ada, "ada"), Status::ok);
    rig_.commit();
    ASSERT_EQ(set_name(world(), ada, "ada lovelace"), Status::ok);
    EXPECT_TRUE(find_named(world(), "ada").is_null());
    EXPECT_EQ(find_named(world(), "ada lovelace"), ada);
    ASSERT_EQ(set_name(world(), bob, "ada"), Status::ok);
    EXPECT_EQ(find_named(world(), "ada"), bob);
    rig_.commit();
    ASSERT_EQ(clear_name(world(), bob), Status::ok);
    EXPECT_TRUE(find_named(world(), "ada").is_null());
    rig_.commit();
}

TEST_F(NamesTest, GoWithTheirEntityAndComeBackWithTheTick) {
    const Entity ada = *world().spawn(Health{1});
    ASSERT_EQ(set_name(world(), ada, "ada"), Status::ok);
    const Tick before = rig_.commit();
    const auto bytes = rig_.bytes();
    ASSERT_EQ(world().destroy(ada), Status::ok);
    EXPECT_TRUE(find_named(world(), "ada").is_null());
    EXPECT_EQ(set_name(world(), ada, "ada"), Status::stale_handle);
    const Entity bob = *world().spawn(Health{2});
    ASSERT_EQ(set_name(world(), bob, "ada"), Status::ok);
    rig_.commit();
    ASSERT_TRUE(rig_.ring().rollback(before));
    EXPECT_TRUE(rig_.bytes() == bytes);
    EXPECT_EQ(find_named(world(), "ada"), ada);
    EXPECT_EQ(world().check(), Status::ok);
}

TEST_F(NamesTest, ManyAreFound) {
    std::vector<Entity> entities;
    for (int i = 0; i < 2'000; ++i) {
        entities.push_back(*world().spawn(Health{i}));
        ASSERT_EQ(set_name(world(), entities.back(), numbered(i)), Status::ok);
    }
    for (std::size_t i = 0; i < 2'000; i += 3)
        ASSERT_EQ(world().destroy(entities[i]), Status::ok);
    for (std::size_t i = 0; i < 2'000; ++i)
        ASSERT_EQ(find_named(world(), numbered(i)), i % 3 == 0 ? Entity() : entities[i]);
    std::size_t seen = 0;
    Query<Entity, const Name&>(world()).each([&](Entity entity, const Name& name) {
        EXPECT_EQ(find_named(world(), name.text), entity);
        ++seen;
    });
    EXPECT_EQ(seen, 1'333U);
    rig_.commit();
}

TEST_F(NamesTest, AFullSegmentIsAStatusAndNothingIsLost) {
    EcsRig small(std::uint64_t{1} << 20, {.max_entities = 30'000, .max_archetypes = 16});
    ASSERT_TRUE(small.is_ready());
    Status last = Status::ok;
    std::string name;
    Entity entity;
    for (int i = 0; last == Status::ok; ++i) {
        entity = *small.world().spawn(Health{i});
        name = numbered(i);
        last = set_name(small.world(), entity, name);
    }
    EXPECT_EQ(last, Status::capacity_exhausted);
    EXPECT_TRUE(find_named(small.world(), name).is_null());
    EXPECT_EQ(name_of(small.world(), entity), "");
    small.commit();
}

}  // namespace
}  // namespace ouro
