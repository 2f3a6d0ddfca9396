// Simulation types in saved images: they mean the same at another address, go on there as they would have
// gone on where they were, and when their bytes are damaged, nothing outside of the image is touched.
#include "sim_rig.hpp"

#include <ouro/streams/image_file.hpp>
#include <ouro/streams/sim_map.hpp>
#include <ouro/streams/sim_pool.hpp>
#include <ouro/streams/sim_set.hpp>
#include <ouro/streams/sim_string.hpp>
#include <ouro/streams/sim_vec.hpp>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using testing_support::SimRig;

struct Creature {
    std::uint64_t id;
    double weight;
};
struct World {
    SimVec<Creature> herd;
    SimString text;
    SimMap<FixedString<15>, std::uint32_t> prices;
    SimSet<std::uint64_t> seen;
    SimPool<Creature> creatures;
};
using Name = SimHandle<Creature>;

// The same for the same random numbers, whatever the heap's address is.
class Player {
public:
    Player(ImageHeap& heap, std::uint64_t seed) : heap_(heap), random_(seed) {}

    void play(const World& world, int steps) {
        for (int i = 0; i < steps; ++i)
            step(world);
    }
    // One change of each; a full heap refuses some.
    void step(const World& world) {
        const std::uint64_t number = random_.below(300);
        auto herd = heap_.bind(world.herd);
        (void)herd.push_back({number, 0.5});
        if (number % 7 == 0) herd.erase(random_.below(herd.size()));
        auto text = heap_.bind(world.text);
        (void)text.append("word ");
        if (text.size() > 400) text.clear();
        auto prices = heap_.bind(world.prices);
        (void)prices.set(*FixedString<15>::from("item " + std::to_string(number)), random_.below(100));
        (void)prices.erase(*FixedString<15>::from("item " + std::to_string(random_.below(300))));
        auto seen = heap_.bind(world.seen);
        (void)seen.insert(number);
        (void)seen.erase(number * 3 % 300);
        auto creatures = heap_.bind(world.creatures);
        const auto made = creatures.create({number, 1.5});
        if (made) names_.push_back(*made);
        if (number % 2 == 0 && !names_.empty())
            (void)creatures.destroy(names_[random_.below(static_cast<std::uint32_t>(names_.size()))]);
    }

private:
    ImageHeap& heap_;
    Random random_;
    std::vector<Name> names_;
};

// All there is, in the order in which it is visited.
std::string told(ImageHeap& heap, const World& world) {
    std::string all(heap.bind(world.text).view());
    for (const Creature& creature : heap.bind(world.herd))
        all += ' ' + std::to_string(creature.id);
    for (const auto& [name, price] : heap.bind(world.prices))
        all += ' ' + std::string(name.view()) + ' ' + std::to_string(price);
    for (const auto& entry : heap.bind(world.seen))
        all += ' ' + std::to_string(entry.key);
    for (const auto& [name, creature] : heap.bind(world.creatures))
        all += ' ' + std::to_string(name.bits()) + ' ' + std::to_string(creature.id);
    return all;
}

Status check_all(const World& world, const ImageHeap& heap) {
    for (const Status status : {world.herd.check(heap), world.text.check(heap), world.prices.check(heap),
                                world.seen.check(heap), world.creatures.check(heap)})
        if (status != Status::ok) return status;
    return Status::ok;
}

std::vector<std::byte> saved(const StateRing& ring) {
    std::vector<std::byte> bytes;
    const auto view = ring.view(ring.newest());
    EXPECT_TRUE(view);
    const auto append = [](void* context, std::span<const std::byte> piece) noexcept {
        auto& all = *static_cast<std::vector<std::byte>*>(context);
        all.insert(all.end(), piece.begin(), piece.end());
        return Status::ok;
    };
    EXPECT_TRUE(write_image(*view, {.write = append, .context = &bytes}));
    return bytes;
}

TEST(SimFile, WhatWasSavedGoesOnElsewhereAsItWould) {
    SimRig here(std::uint64_t{256} << 10);
    SimRig there(std::uint64_t{256} << 10);
    ASSERT_TRUE(here.is_ready() && there.is_ready());
    ASSERT_NE(here.ring().image().data, there.ring().image().data);
    const auto root = here.heap().make_root<World>("world");
    ASSERT_TRUE(root);
    const World& world = here.heap().get(*root);
    Player(here.heap(), 1).play(world, 400);
    here.commit();
    const auto bytes = saved(here.ring());
    const std::span<const std::byte> all(bytes);
    ASSERT_TRUE(read_image(there.ring(), image_source(all)));

    auto heap = ImageHeap::attach(there.ring(), "world");
    ASSERT_TRUE(heap);
    const auto found = heap->root<World>("world");
    ASSERT_TRUE(found);
    const World& loaded = heap->get(*found);
    EXPECT_EQ(check_all(loaded, *heap), Status::ok);
    EXPECT_EQ(told(*heap, loaded), told(here.heap(), world));
    Player(here.heap(), 2).play(world, 200);
    Player(*heap, 2).play(loaded, 200);
    here.commit();
    there.commit();
    EXPECT_EQ(told(*heap, loaded), told(here.heap(), world));
    EXPECT_EQ(here.ring().hash(here.ring().newest()).value_or(0),
              there.ring().hash(there.ring().newest()).value_or(1));
}

class DamagedWorld : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(rig_.is_ready());
        const auto root = rig_.heap().make_root<World>("world");
        ASSERT_TRUE(root);
        offset_ = root->offset();
        Player(rig_.heap(), 5).play(rig_.heap().get(*root), 60);
        good_ = rig_.commit();
    }

    // A few words of the heap's own, of the blocks, and most often of the containers' headers.
    void damage(Random& random) {
        const MemoryBlock segment = rig_.heap().segment();
        const auto control = static_cast<std::uint32_t>(rig_.heap().stats().control_bytes);
        const auto front = offset_ - rig_.heap().offset_of(segment.data);
        for (std::uint32_t left = 1 + random.below(3); left != 0; --left) {
            const std::uint32_t kind = random.below(4);
            std::size_t at = kind == 0   ? random.below(control)
                             : kind == 1 ? control + random.below(16'000)
                                         : front + random.below(sizeof(World));
            at = at / 4 * 4;
            std::uint32_t word = 0;
            std::memcpy(&word, segment.data + at, sizeof(word));
            const std::array<std::uint32_t, 5> values = {0, UINT32_MAX, word ^ 1U << random.below(32),
                                                         word + random.below(64) - 32, random.below(300'000)};
            word = values[random.below(values.size())];
            std::memcpy(segment.data + at, &word, sizeof(word));
            rig_.heap().mark(segment.data + at, sizeof(word));
        }
    }

    void read_the_past(Random& random) {
        const auto view = rig_.ring().view(rig_.ring().newest());
        ASSERT_TRUE(view);
        const PastReader past(*view);
        const auto world = past.root<World>(rig_.heap(), "world");
        if (!world) return;
        std::array<char, 64> text{};
        (void)world->text.read(past, text);
        (void)world->herd.at(past, random.below(100));
        (void)world->prices.find(past, "item 7");
        (void)world->prices.visit(past, [](const auto&) {});
        (void)world->seen.contains(past, 9);
        const std::uint64_t place = random.below(32) << 27 | random.below(40);
        (void)world->creatures.find(past, Name::from_bits(std::uint64_t{1} << 32 | place));
        (void)world->creatures.visit(past, [](Name, const Creature&) {});
    }

    // True when everything passed the checks, and was read then.
    bool read() {
        auto heap = ImageHeap::attach(rig_.ring(), "world");
        if (!heap) return false;
        const auto root = heap->root<World>("world");
        if (!root || check_all(heap->get(*root), *heap) != Status::ok) return false;
        EXPECT_FALSE(told(*heap, heap->get(*root)).empty());
        return true;
    }

    SimRig rig_{std::uint64_t{256} << 10};
    std::uint32_t offset_ = 0;
    Tick good_ = 0;
};

// What is before the heap's first block, behind its last, or not where blocks begin would lead it outside of
// the image when the memory is given back.
TEST_F(DamagedWorld, WhatCannotBeOfTheHeapIsNotChanged) {
    const ImageHeap& heap = rig_.heap();
    const World& world = heap.get(OffsetPtr<World>::from_offset(offset_));
    const auto text = std::bit_cast<std::array<std::uint32_t, 3>>(world.text);
    const auto herd = std::bit_cast<std::array<std::uint32_t, 3>>(world.herd);
    const auto seen = std::bit_cast<std::array<std::uint32_t, 4>>(world.seen);
    EXPECT_EQ(check_all(world, heap), Status::ok);
    const auto front = heap.offset_of(heap.segment().data);
    for (const std::uint32_t offset : {16U, front, front + 4096, text[0] + 1}) {
        SCOPED_TRACE(offset);
        auto moved = text;
        moved[0] = offset;
        EXPECT_EQ(std::bit_cast<SimString>(moved).check(heap.base()), Status::ok) << "it could be read";
        EXPECT_EQ(std::bit_cast<SimString>(moved).check(heap), Status::corrupt_data);
    }
    auto moved = herd;
    moved[0] = 16;
    EXPECT_EQ(std::bit_cast<SimVec<Creature>>(moved).check(heap), Status::corrupt_data);
    // A whole table, and a whole pool, that were copied to where no heap is.
    const auto bytes = static_cast<std::size_t>(SimSet<std::uint64_t>::Layout::bytes_of(seen[3]));
    std::byte* const elsewhere = heap.base().start() + kStatePageBytes;
    ASSERT_LE(kStatePageBytes + bytes, front);
    std::memcpy(elsewhere, heap.base().start() + seen[0], bytes);
    auto copied = seen;
    copied[0] = kStatePageBytes;
    EXPECT_EQ(std::bit_cast<SimSet<std::uint64_t>>(copied).check(heap.base()), Status::ok);
    EXPECT_EQ(std::bit_cast<SimSet<std::uint64_t>>(copied).check(heap), Status::corrupt_data);
    auto pool = std::bit_cast<std::array<std::uint32_t, 28>>(world.creatures);
    constexpr std::size_t kFirstChunk = 5;
    std::memcpy(elsewhere, heap.base().start() + pool[kFirstChunk], 16 * (sizeof(Creature) + 8));
    pool[kFirstChunk] = kStatePageBytes;
    EXPECT_EQ(std::bit_cast<SimPool<Creature>>(pool).check(heap.base()), Status::ok);
    EXPECT_EQ(std::bit_cast<SimPool<Creature>>(pool).check(heap), Status::corrupt_data);
}

TEST_F(DamagedWorld, IsRefusedOrStaysInTheImage) {
    Random random(21);
    int passed = 0;
    constexpr int kRounds = 3000;
    for (int round = 0; round < kRounds && !HasFailure(); ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        damage(random);
        ASSERT_TRUE(rig_.ring().commit());
        read_the_past(random);
        passed += read() ? 1 : 0;
        ASSERT_TRUE(rig_.ring().rollback(good_));
    }
    EXPECT_TRUE(read()) << "the undamaged one";
    // What lies in an element may be anything.
    EXPECT_GT(passed, 0);
    EXPECT_LT(passed, kRounds / 2);
}

}  // namespace
}  // namespace ouro
