// The same calls leave the same bytes in every compiler, optimisation level and platform. A change of this
// value changes every recorded state that holds simulation types, and needs a decision record that says why.
#include "sim_rig.hpp"

#include <ouro/base/hash.hpp>
#include <ouro/streams/sim_map.hpp>
#include <ouro/streams/sim_pool.hpp>
#include <ouro/streams/sim_set.hpp>
#include <ouro/streams/sim_string.hpp>

#include <string>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using testing_support::SimRig;

struct Creature {
    FixedString<11> name;
    float health;
    SimVec<std::uint16_t> path;
    SimString biography;
    SimHandle<Creature> prey;
};

struct World {
    SimPool<Creature> creatures;
    SimMap<std::uint64_t, SimHandle<Creature>> by_id;
    SimMap<FixedString<11>, std::uint16_t> names;
    SimSet<std::uint32_t> cells;
    std::uint64_t next_id;
    std::uint64_t refused;
};

class Script {
public:
    explicit Script(ImageHeap& heap)
        : heap_(heap), world_(heap.make_root<World>("world").value_or(OffsetPtr<World>())) {}

    void run(int steps, std::uint64_t seed) {
        Random random(seed);
        for (int i = 0; i < steps; ++i)
            step(random);
    }

    [[nodiscard]] const World& world() const { return heap_.get(world_); }

private:
    void step(Random& random) {
        auto by_id = heap_.bind(world().by_id);
        if (by_id.is_empty() || random.below(100) < 35) return add(random);
        const std::uint64_t id = random.below(static_cast<std::uint32_t>(world().next_id));
        const SimHandle<Creature>* handle = by_id.find(id);
        if (handle == nullptr) return;
        random.below(100) < 40 ? remove(id, *handle) : change(*handle, random);
    }

    void add(Random& random) {
        FixedString<11> name = "c";
        note(name.append(std::to_string(random.below(500))));
        const auto made =
            heap_.bind(world().creatures)
                .create({.name = name, .health = 1.25F, .path = {}, .biography = {}, .prey = {}});
        note(made.status());
        if (!made) return;
        note(heap_.bind(world().by_id).set(heap_.edit(world().next_id)++, *made));
        const auto count = heap_.bind(world().names).edit_or_add(name);
        note(count.status());
        if (count) ++**count;
    }

    void remove(std::uint64_t id, SimHandle<Creature> handle) {
        const Creature* creature = heap_.bind(world().creatures).find(handle);
        if (creature != nullptr) {
            heap_.bind(creature->path).release();
            heap_.bind(creature->biography).release();
        }
        (void)heap_.bind(world().creatures).destroy(handle);
        heap_.bind(world().by_id).erase(id);
    }

    void change(SimHandle<Creature> handle, Random& random) {
        Creature* creature = heap_.bind(world().creatures).edit(handle);
        if (creature == nullptr) return;
        creature->health *= 0.75F;
        const std::uint32_t cell = random.below(3000);
        note(heap_.bind(creature->path).push_back(static_cast<std::uint16_t>(cell)));
        note(heap_.bind(creature->biography).append("went on; "));
        if (random.below(3) == 0)
            heap_.bind(world().cells).erase(cell);
        else
            note(heap_.bind(world().cells).insert(cell).status());
    }

    void note(Status status) {
        if (status != Status::ok) ++heap_.edit(world().refused);
    }

    ImageHeap& heap_;
    OffsetPtr<World> world_;
};

TEST(Golden, TheImageOfSimulationTypesAfterManyCalls) {
    SimRig rig(std::uint64_t{192} << 10);
    ASSERT_TRUE(rig.is_ready());
    Script script(rig.heap());
    std::uint64_t hash = 0;
    for (std::uint64_t part = 0; part < 40; ++part) {
        script.run(1000, part);
        const Tick tick = rig.commit();
        if (part % 5 == 4) {
            ASSERT_TRUE(rig.ring().rollback(tick - 2));
        }
        hash = combine_hash(hash, hash_bytes(rig.heap().segment().bytes()));
    }
    // The heap was full at times: refusals are part of what must be the same.
    EXPECT_GT(script.world().refused, 0U);
    EXPECT_GT(script.world().creatures.size(), 100U);
    EXPECT_EQ(rig.heap().check(), Status::ok);
    EXPECT_EQ(hash, 0x2b39f2780ed8bbb4U);
}

}  // namespace
}  // namespace ouro
