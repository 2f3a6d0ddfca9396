#include "sim_rig.hpp"

#include <ouro/streams/sim_pool.hpp>

#include <array>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

struct Creature {
    std::uint64_t id;
    SimHandle<Creature> prey;
    float health;
    std::uint32_t unused;
};

struct World {
    SimPool<Creature> creatures;
};

using Name = SimHandle<Creature>;

class SimPoolTest : public testing_support::SimRigTest<World> {
protected:
    const SimPool<Creature>& stored() { return world().creatures; }
    SimPoolRef<Creature> pool() { return heap().bind(stored()); }
    Name make(std::uint64_t id) {
        return pool().create({.id = id, .prey = {}, .health = 1, .unused = 0}).value_or(Name());
    }
};

TEST_F(SimPoolTest, NamesItsObjects) {
    const Name wolf = make(1);
    const Name hare = make(2);
    ASSERT_TRUE(wolf && hare);
    pool().edit(wolf)->prey = hare;
    EXPECT_EQ(pool().find(pool().find(wolf)->prey)->id, 2U);
    EXPECT_EQ(pool().find(Name()), nullptr);
    EXPECT_EQ(pool().find(Name(9, 1)), nullptr);
    EXPECT_EQ(pool().destroy(hare), Status::ok);
    EXPECT_EQ(pool().find(pool().find(wolf)->prey), nullptr) << "a stale handle is noticed";
    EXPECT_EQ(pool().edit(hare), nullptr);
    EXPECT_EQ(pool().destroy(hare), Status::stale_handle);
    const Name fox = make(3);
    EXPECT_EQ(fox.index(), hare.index()) << "not the same place: nothing was tested";
    EXPECT_EQ(pool().find(hare), nullptr);
    EXPECT_EQ(pool().find(fox)->id, 3U);
    // What somebody made up for a place that was freed.
    EXPECT_EQ(pool().destroy(fox), Status::ok);
    EXPECT_EQ(pool().find(Name::from_bits((fox.generation() + 1) << 32 | fox.index())), nullptr);
    rig_.commit();
}

TEST_F(SimPoolTest, ObjectsStayWhereTheyAre) {
    const Name first = make(1);
    const Creature* const place = pool().find(first);
    std::vector<Name> names;
    for (std::uint64_t id = 2; id < 3000; ++id)
        names.push_back(make(id));
    EXPECT_EQ(pool().find(first), place);
    std::uint64_t id = 1;
    for (const auto& [handle, creature] : pool()) {
        EXPECT_EQ(creature.id, id++);
        EXPECT_EQ(pool().find(handle), &creature);
    }
    EXPECT_EQ(id, 3000U);
    EXPECT_EQ(stored().check(heap().base()), Status::ok);
    rig_.commit();
}

TEST_F(SimPoolTest, MayLoseObjectsWhileItIsIterated) {
    for (std::uint64_t id = 0; id < 100; ++id)
        make(id);
    for (const auto& [handle, creature] : pool())
        if (creature.id % 4 != 0) {
            EXPECT_EQ(pool().destroy(handle), Status::ok);
        }
    EXPECT_EQ(pool().size(), 25U);
    std::uint64_t id = 0;
    for (const auto& [handle, creature] : pool()) {
        EXPECT_EQ(creature.id, id);
        id += 4;
    }
    rig_.commit();
}

TEST_F(SimPoolTest, OldHandlesStayStale) {
    std::vector<Name> old;
    for (std::uint64_t id = 0; id < 50; ++id)
        old.push_back(make(id));
    pool().clear();
    EXPECT_TRUE(pool().is_empty());
    for (std::uint64_t id = 0; id < 20; ++id)
        old.push_back(make(id));
    rig_.commit();
    pool().release();
    EXPECT_EQ(heap().stats().heap.live_blocks, 1U);
    for (std::uint64_t id = 0; id < 50; ++id)
        make(id);
    for (const Name name : old)
        EXPECT_EQ(pool().find(name), nullptr);
    EXPECT_EQ(stored().check(heap().base()), Status::ok);
    rig_.commit();
}

TEST_F(SimPoolTest, HandlesAreRolledBack) {
    const Name early = make(1);
    const Tick tick = rig_.commit();
    const Name late = make(2);
    EXPECT_EQ(pool().destroy(early), Status::ok);
    rig_.commit();
    ASSERT_TRUE(rig_.ring().rollback(tick));
    EXPECT_EQ(pool().find(early)->id, 1U);
    EXPECT_EQ(pool().find(late), nullptr);
    EXPECT_EQ(make(2), late) << "the same calls give the same names";
}

TEST_F(SimPoolTest, IsAsItWasWhenTheHeapIsFull) {
    std::vector<Name> names;
    for (Name name = make(0); name; name = make(names.size()))
        names.push_back(name);
    EXPECT_GT(names.size(), 10'000U);
    EXPECT_EQ(pool().create().status(), Status::capacity_exhausted);
    EXPECT_EQ(pool().reserve(1 << 20), Status::capacity_exhausted);
    EXPECT_EQ(pool().size(), names.size());
    for (std::size_t i = 0; i < names.size(); ++i)
        ASSERT_EQ(pool().find(names[i])->id, i);
    EXPECT_EQ(pool().destroy(names[5]), Status::ok);
    EXPECT_TRUE(pool().create());
    EXPECT_EQ(stored().check(heap().base()), Status::ok);
    rig_.commit();
}

TEST_F(SimPoolTest, ReservesAhead) {
    ASSERT_EQ(pool().reserve(1000), Status::ok);
    const std::uint64_t blocks = heap().stats().heap.live_blocks;
    for (std::uint64_t id = 0; id < 1000; ++id)
        make(id);
    EXPECT_EQ(heap().stats().heap.live_blocks, blocks);
}

TEST_F(SimPoolTest, KnowsWhenItsHeaderMakesNoSense) {
    for (std::uint64_t id = 0; id < 40; ++id)
        make(id);
    EXPECT_EQ(pool().destroy(Name(3, 1)), Status::ok);
    const auto good = std::bit_cast<std::array<std::uint32_t, 28>>(stored());
    for (std::size_t word = 0; word < good.size(); ++word) {
        for (const std::uint32_t value : {good[word] + 1, 0xffff'fff1U}) {
            auto bad = good;
            bad[word] = value;
            EXPECT_EQ(std::bit_cast<SimPool<Creature>>(bad).check(heap().base()), Status::corrupt_data)
                << "word " << word << " is " << value;
        }
    }
    EXPECT_EQ(stored().check(heap().base()), Status::ok);
}

// As of a past tick whose bytes came from a file: whatever they are, nothing outside is read.
TEST_F(SimPoolTest, AHeaderThatMakesNoSenseIsNotFollowedIntoThePast) {
    for (std::uint64_t id = 0; id < 40; ++id)
        make(id);
    const Tick tick = rig_.commit();
    const auto view = rig_.ring().view(tick);
    ASSERT_TRUE(view);
    const PastReader past(*view);
    const auto good = std::bit_cast<std::array<std::uint32_t, 28>>(stored());
    constexpr std::size_t kNextPlace = 1;
    constexpr std::uint32_t kChunk = std::uint32_t{1} << 27;
    const auto ignore = [](Name, const Creature&) {};
    for (const std::uint32_t next :
         {UINT32_MAX, 23 * kChunk, 24 * kChunk, 31 * kChunk + 1, 3 * kChunk, 17U}) {
        SCOPED_TRACE(next);
        auto bad = good;
        bad[kNextPlace] = next;
        const auto pool = std::bit_cast<SimPool<Creature>>(bad);
        EXPECT_EQ(pool.visit(past, ignore), Status::out_of_range);
        for (const std::uint32_t place : {16U, 2 * kChunk, 23 * kChunk, 30 * kChunk, 31 * kChunk})
            EXPECT_FALSE(pool.find(past, Name(place, 1)));
    }
    EXPECT_EQ(stored().visit(past, ignore), Status::ok);
}

class PoolSubject {
public:
    struct Model {
        std::map<std::uint64_t, std::uint64_t> live;
        std::vector<std::uint64_t> stale;
    };

    explicit PoolSubject(ImageHeap& heap)
        : world_(heap.make_root<World>("world").value_or(OffsetPtr<World>())) {}

    void step(ImageHeap& heap, Model& model, Random& random) {
        auto pool = heap.bind(heap.get(world_).creatures);
        const std::uint32_t choice = random.below(100);
        if (choice < 50 || model.live.empty()) {
            const std::uint64_t id = random.below(1'000'000);
            const auto name = pool.create({.id = id, .prey = {}, .health = 2, .unused = 0});
            ASSERT_TRUE(name);
            ASSERT_TRUE(model.live.emplace(name->bits(), id).second);
            return;
        }
        auto each = model.live.begin();
        std::advance(each, random.below(static_cast<std::uint32_t>(model.live.size())));
        const Name name = Name::from_bits(each->first);
        if (choice < 80) {
            EXPECT_EQ(pool.destroy(name), Status::ok);
            if (model.stale.size() < 200) model.stale.push_back(each->first);
            model.live.erase(each);
        } else if (choice < 99) {
            each->second += 1;
            pool.edit(name)->id += 1;
        } else if (random.below(20) == 0) {
            for (const auto& [bits, id] : model.live)
                model.stale.push_back(bits);
            model.live.clear();
            random.below(2) == 0 ? pool.clear() : pool.release();
        }
    }

    void expect_same(ImageHeap& heap, const Model& model) const {
        const auto pool = heap.bind(heap.get(world_).creatures);
        EXPECT_EQ(heap.get(world_).creatures.check(heap.base()), Status::ok);
        ASSERT_EQ(pool.size(), model.live.size());
        std::uint32_t count = 0;
        for (const auto& [handle, creature] : pool) {
            ASSERT_EQ(model.live.at(handle.bits()), creature.id);
            ++count;
        }
        EXPECT_EQ(count, pool.size());
        for (const std::uint64_t bits : model.stale)
            ASSERT_EQ(pool.find(Name::from_bits(bits)), nullptr);
    }

    void expect_same_past(const ImageHeap& heap, const PastReader& past, const Model& model) const {
        const auto world = past.root<World>(heap, "world");
        ASSERT_TRUE(world);
        for (const auto& [bits, id] : model.live) {
            const auto creature = world->creatures.find(past, Name::from_bits(bits));
            ASSERT_TRUE(creature);
            ASSERT_EQ(creature->id, id);
        }
        for (const std::uint64_t bits : model.stale)
            ASSERT_EQ(world->creatures.find(past, Name::from_bits(bits)).status(), Status::stale_handle);
        std::uint32_t count = 0;
        ASSERT_EQ(world->creatures.visit(past,
                                         [&](Name name, const Creature& creature) {
                                             EXPECT_EQ(model.live.at(name.bits()), creature.id);
                                             ++count;
                                         }),
                  Status::ok);
        EXPECT_EQ(count, model.live.size());
    }

private:
    OffsetPtr<World> world_;
};

TEST(SimPoolModel, IsAsTheStandardOneAtEveryTick) {
    testing_support::run_campaigns<PoolSubject>();
}

}  // namespace
}  // namespace ouro
