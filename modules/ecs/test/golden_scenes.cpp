#include "golden_scenes.hpp"

#include "flock.hpp"

#include <ouro/base/math.hpp>
#include <ouro/base/random.hpp>
#include <ouro/streams/sim_map.hpp>
#include <ouro/streams/sim_vec.hpp>

namespace ouro::testing_support {

struct Lamp {
    std::uint32_t brightness;
};
struct Burning {
    std::uint32_t ticks;
};

}  // namespace ouro::testing_support

template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::Lamp> = {.toggles =
                                                                                                    true};
template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::Burning> = {.sparse =
                                                                                                       true};

namespace ouro::testing_support {
namespace {

// Birds of the example.
class FlockScene final : public Scene {
public:
    Status begin(World& world, Schedule& schedule) override {
        flock::add_systems(schedule, cells_);
        return flock::spawn_birds(world, 400);
    }

private:
    flock::Cells cells_;
};

struct Spark {
    float x;
    float y;
    float rise;
    std::uint32_t ticks_left;
};
struct Fountain {
    Random random;
    std::uint32_t made;
    std::uint32_t spare;
};

// Entities that come and go in each tick, some of them from loops on several threads.
class FountainScene final : public Scene {
public:
    Status begin(World& world, Schedule& schedule) override {
        schedule.add("spout", [](Res<Fountain> fountain, Commands commands) {
            for (std::uint32_t i = fountain->random.below(8); i != 0; --i) {
                const float x = fountain->random.unit_float();
                commands.spawn(Spark{x, 0, 1 + x, 10 + fountain->random.below(40)});
                ++fountain->made;
            }
        });
        schedule.add("fly", [](JobPool& pool, Query<Entity, Spark&> sparks, Commands commands) {
            sparks.parallel_each(pool, commands, [](Commands& own, Entity self, Spark& spark) {
                spark.y += spark.rise;
                spark.rise -= 0.05F;
                if (--spark.ticks_left == 0) return own.destroy(self);
                if (spark.ticks_left == 7) own.spawn(Spark{spark.x, spark.y, 0.25F, 5});
            });
        });
        Fountain* const fountain = world.edit_resource<Fountain>();
        if (fountain == nullptr) return Status::capacity_exhausted;
        fountain->random = Random(2);
        return world.component<Spark>().status();
    }
};

struct Creature {
    std::uint32_t energy;
    std::uint32_t age;
};
struct Sick {
    std::uint32_t ticks_left;
};
struct Asleep {};
struct Statistics {
    Random random;
    std::uint64_t changed;
};

// Components that come and go, and queries for what changed.
class EpidemicScene final : public Scene {
public:
    Status begin(World& world, Schedule& schedule) override {
        schedule.add("infect", [](Query<Entity, Mut<Creature>, Without<Sick>> healthy,
                                  Res<Statistics> statistics, Commands commands) {
            healthy.each([&](Entity self, Mut<Creature> creature) {
                if (statistics->random.below(100) != 0) return;
                creature.edit().energy /= 2;
                commands.add(self, Sick{5 + creature->energy % 9});
            });
        });
        schedule.add("heal", [](JobPool& pool, Query<Entity, Sick&> sick, Commands commands) {
            sick.parallel_each(pool, commands, [](Commands& own, Entity self, Sick& illness) {
                if (--illness.ticks_left != 0) return;
                own.remove<Sick>(self);
                own.add<Asleep>(self);
            });
        });
        schedule.stage("count");
        // Queries make nothing known, and the order in which it comes to be known is part of the bytes.
        schedule.add("know", [](World& own) { static_cast<void>(own.component<Asleep>()); });
        schedule.add("count", [](Query<const Creature&, Changed<Creature>> changed,
                                 Res<Statistics> statistics) { statistics->changed += changed.count(); });
        schedule.add("wake", [](Query<Entity, const Creature&, With<Asleep>> asleep, Commands commands) {
            asleep.each([&](Entity self, const Creature& creature) {
                if (creature.age % 4 == 0) commands.remove<Asleep>(self);
            });
        });
        schedule.add("age", [](Query<Creature&, Without<Asleep>> awake) {
            awake.each([](Creature& creature) {
                ++creature.age;
                creature.energy += 3;
            });
        });
        Statistics* const statistics = world.edit_resource<Statistics>();
        if (statistics == nullptr) return Status::capacity_exhausted;
        statistics->random = Random(3);
        std::uint32_t number = 0;
        const auto made = world.spawn_many<Creature>(
            300, [&](Creature& creature) { creature = {100 + number++, number % 5}; });
        return made ? world.component<Sick>().status() : made.status();
    }
};

struct Body {
    double x;
    double speed;
};
// Sparse components, components that are switched off, and our own math.
class FireScene final : public Scene {
public:
    Status begin(World& world, Schedule& schedule) override {
        schedule.add("know", [](World& own) { static_cast<void>(own.component<Burning>()); });
        schedule.add("swing", [](JobPool& pool, Query<Body&> bodies) {
            bodies.parallel_each(pool, [](Body& body) {
                body.speed -= math::sin(body.x) * 0.01;
                body.x += body.speed;
            });
        });
        schedule.add("light", [](Query<Entity, const Body&, Lamp&> lamps, Commands commands) {
            lamps.each([&](Entity self, const Body& body, Lamp& lamp) {
                lamp.brightness += body.x > 0 ? 1U : 2U;
                if (lamp.brightness % 50 == 0) commands.disable<Lamp>(self);
                if (lamp.brightness % 31 == 0) commands.add(self, Burning{lamp.brightness % 7 + 1});
            });
        });
        schedule.add("burn", [](Query<Entity, Burning&> burning, Commands commands) {
            burning.each([&](Entity self, Burning& fire) {
                if (--fire.ticks != 0) return;
                commands.remove<Burning>(self);
                commands.enable<Lamp>(self);
            });
        });
        std::uint32_t number = 0;
        return world
            .spawn_many<Body, Lamp>(200,
                                    [&](Body& body, Lamp& lamp) {
                                        body = {0.01 * number, 0};
                                        lamp = {number++};
                                    })
            .status();
    }
};

struct Trader {
    SimVec<std::uint32_t> goods;
    std::uint32_t money;
};
struct Market {
    SimMap<std::uint32_t, std::uint32_t> prices;
    Random random;
};

// Containers in the image, written by a system that has the world for itself.
class MarketScene final : public Scene {
public:
    Status begin(World& world, Schedule& schedule) override {
        schedule.add("trade", [](World& own) { trade(own); });
        Market* const market = world.edit_resource<Market>();
        if (market == nullptr) return Status::capacity_exhausted;
        market->random = Random(5);
        return world.spawn_copies(50, Trader{{}, 1'000}).status();
    }

private:
    static void trade(World& world) {
        Market& market = *world.edit_resource<Market>();
        auto prices = world.heap().bind(market.prices);
        Query<Trader&>(world).each([&](Trader& trader) {
            const std::uint32_t good = market.random.below(40);
            const auto price = prices.edit_or_add(good);
            if (!price) return;
            auto goods = world.heap().bind(trader.goods);
            **price += 1 + good % 3;
            if (trader.money > **price && goods.push_back(good) == Status::ok) {
                trader.money -= **price;
            } else if (goods.size() > 5) {
                trader.money += **price * goods.size();
                goods.clear();
                if (market.random.below(4) == 0) goods.release();
            }
        });
        if (market.random.below(20) == 0) (void)prices.erase(market.random.below(40));
    }
};

struct Courier {
    Entity next;
    std::uint64_t letters;
};
struct Bag {
    std::uint32_t weight;
    std::uint32_t trips;
};
struct Post {
    Entity first;
    Random random;
    std::uint64_t carried;
};

// One entity after the other by its name, as `get` and `edit` find them: most of them again where they were
// found last, some of them elsewhere, since they move from archetype to archetype, go and come.
class CourierScene final : public Scene {
public:
    Status begin(World& world, Schedule& schedule) override {
        schedule.add("hurry", [](Query<Mut<Courier>, With<Bag>> loaded) {
            loaded.each([](Mut<Courier> courier) {
                if (courier->letters % 3 == 0) courier.edit().letters += 5;
            });
        });
        schedule.stage("by name");
        schedule.add("carry", [](World& own) { carry(own); });
        Entity last;
        for (std::uint32_t i = 0; i < 150; ++i) {
            const Courier courier{last, i};
            const auto made = i % 3 == 0 ? world.spawn(courier, Bag{i, 0}) : world.spawn(courier);
            if (!made) return made.status();
            last = *made;
        }
        Post* const post = world.edit_resource<Post>();
        if (post == nullptr) return Status::capacity_exhausted;
        *post = {.first = last, .random = Random(6), .carried = 0};
        return Status::ok;
    }

private:
    static void carry(World& world) {
        Post& post = *world.edit_resource<Post>();
        Entity before;
        for (Entity now = post.first; !now.is_null();) {
            const Courier was = *world.get<Courier>(now);
            const std::uint32_t fate = post.random.below(64);
            if (before.is_null() || fate >= 2) {
                work(world, post, now, was, fate);
                before = now;
            } else {
                replace(world, before, now, was);
            }
            now = was.next;
        }
    }
    static void work(World& world, Post& post, Entity self, const Courier& was, std::uint32_t fate) {
        if (fate < 32) world.edit<Courier>(self)->letters += fate;
        if (Bag* const bag = fate % 2 == 0 ? world.edit<Bag>(self) : nullptr; bag != nullptr) {
            bag->weight = bag->weight * 5 + fate;
            ++bag->trips;
        } else if (fate == 3) {
            static_cast<void>(world.add(self, Bag{fate, 0}));
        } else if (fate == 5) {
            static_cast<void>(world.remove<Bag>(self));
        }
        const Bag* const carried = world.get<Bag>(self);
        post.carried += was.letters + (carried == nullptr ? 0 : carried->weight);
    }
    // Another one in the place of one that goes, in the same slot.
    static void replace(World& world, Entity before, Entity gone, const Courier& was) {
        static_cast<void>(world.destroy(gone));
        const auto made = world.spawn(Courier{was.next, was.letters / 2});
        world.edit<Courier>(before)->next = made.value_or(was.next);
    }
};

}  // namespace

const char* golden_scene_name(std::size_t number) {
    constexpr std::array<const char*, kGoldenScenes> kNames = {"flock", "fountain", "epidemic",
                                                               "fire",  "market",   "courier"};
    return kNames[number];
}

Scene* make_golden_scene(std::size_t number) {
    switch (number) {
        case 0:
            return new FlockScene;
        case 1:
            return new FountainScene;
        case 2:
            return new EpidemicScene;
        case 3:
            return new FireScene;
        case 4:
            return new MarketScene;
        default:
            return new CourierScene;
    }
}

void end_golden_scene(Scene* scene) {
    delete scene;
}

}  // namespace ouro::testing_support
