#include "sim_rig.hpp"

#include <ouro/streams/sim_map.hpp>
#include <ouro/streams/sim_set.hpp>

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

struct Cell {
    std::int32_t x;
    std::int32_t y;
    std::uint32_t layer;
};

// Entries with padding at their ends, keys of more than a word, and keys that are texts.
struct World {
    SimMap<std::uint64_t, std::uint32_t> counts;
    SimMap<Cell, double> heat;
    SimMap<FixedString<15>, std::uint64_t> names;
    SimSet<std::uint32_t> seen;
};

class SimMapTest : public testing_support::SimRigTest<World> {
protected:
    auto counts() { return heap().bind(world().counts); }
    std::vector<std::uint64_t> keys() {
        std::vector<std::uint64_t> all;
        for (const auto& [key, count] : counts())
            all.push_back(key);
        return all;
    }
};

using Keys = std::vector<std::uint64_t>;

TEST_F(SimMapTest, FindsWhatWasSet) {
    auto map = counts();
    EXPECT_EQ(map.find(1), nullptr);
    EXPECT_FALSE(map.erase(1));
    for (std::uint64_t key = 0; key < 3000; ++key)
        ASSERT_EQ(map.set(key * 977, static_cast<std::uint32_t>(key)), Status::ok);
    EXPECT_EQ(map.size(), 3000U);
    for (std::uint64_t key = 0; key < 3000; ++key) {
        ASSERT_NE(map.find(key * 977), nullptr);
        ASSERT_EQ(*map.find(key * 977), key);
        ASSERT_FALSE(map.contains(key * 977 + 1));
    }
    ASSERT_EQ(map.set(977, 42), Status::ok);
    EXPECT_EQ(*map.find(977), 42U);
    EXPECT_EQ(map.size(), 3000U);
    ++*map.edit(977);
    EXPECT_EQ(*map.find(977), 43U);
    EXPECT_EQ(map.edit(978), nullptr);
    EXPECT_EQ(world().counts.check(heap().base()), Status::ok);
    rig_.commit();
    map.release();
    EXPECT_EQ(heap().stats().heap.live_blocks, 1U);
    rig_.commit();
}

TEST_F(SimMapTest, IteratesInTheOrderOfAdding) {
    auto map = counts();
    for (const std::uint64_t key : {50U, 3U, 77U, 12U, 9U})
        ASSERT_EQ(map.set(key, 1), Status::ok);
    EXPECT_EQ(keys(), (Keys{50, 3, 77, 12, 9}));
    EXPECT_TRUE(map.erase(77));
    ASSERT_EQ(map.set(3, 2), Status::ok);
    EXPECT_EQ(keys(), (Keys{50, 3, 12, 9}));
    ASSERT_EQ(map.set(77, 1), Status::ok);
    EXPECT_EQ(keys(), (Keys{50, 3, 12, 9, 77}));
    for (std::uint64_t key = 100; key < 140; ++key)
        ASSERT_EQ(map.set(key, 1), Status::ok);
    const Keys all = keys();
    EXPECT_EQ(Keys(all.begin(), all.begin() + 6), (Keys{50, 3, 12, 9, 77, 100}));
    EXPECT_EQ(all.back(), 139U);
    rig_.commit();
}

TEST_F(SimMapTest, MayLoseEntriesWhileItIsIterated) {
    auto map = counts();
    for (std::uint64_t key = 0; key < 100; ++key)
        ASSERT_EQ(map.set(key, 1), Status::ok);
    std::uint64_t visited = 0;
    for (const auto& [key, count] : map) {
        ++visited;
        if (key % 3 != 0) map.erase(std::uint64_t{key});
    }
    EXPECT_EQ(visited, 100U);
    EXPECT_EQ(map.size(), 34U);
    for (const auto& [key, count] : map)
        map.erase(std::uint64_t{key});
    EXPECT_TRUE(map.is_empty());
    EXPECT_EQ(map.begin(), map.end());
    EXPECT_EQ(world().counts.check(heap().base()), Status::ok);
    rig_.commit();
}

TEST_F(SimMapTest, UsesHolesAgainBeforeItGrows) {
    auto map = counts();
    for (std::uint64_t key = 0; key < 90; ++key)
        ASSERT_EQ(map.set(key, 1), Status::ok);
    const std::uint64_t bytes = heap().stats().heap.live_bytes;
    for (std::uint64_t key = 90; key < 10'000; ++key) {
        ASSERT_TRUE(map.erase(key - 90));
        ASSERT_EQ(map.set(key, 1), Status::ok);
    }
    EXPECT_LE(heap().stats().heap.live_bytes, bytes * 2 + 4096);
    EXPECT_EQ(keys().front(), 9'910U);
    rig_.commit();
}

TEST_F(SimMapTest, MakesValuesOfZeros) {
    auto heat = heap().bind(world().heat);
    const auto value = heat.edit_or_add({1, -2, 3});
    ASSERT_TRUE(value);
    EXPECT_EQ(**value, 0.0);
    **value = 2.5;
    EXPECT_EQ(**heat.edit_or_add({1, -2, 3}), 2.5);
    EXPECT_TRUE(heat.erase({1, -2, 3}));
    EXPECT_EQ(**heat.edit_or_add({1, -2, 3}), 0.0) << "in the same place";
    auto names = heap().bind(world().names);
    ASSERT_EQ(names.set("Ada", 1), Status::ok);
    ASSERT_EQ(names.set("Grace", 2), Status::ok);
    EXPECT_EQ(*names.find("Grace"), 2U);
    rig_.commit();
}

TEST_F(SimMapTest, TakesItsOwnKeysAndValues) {
    auto map = counts();
    for (std::uint64_t key = 0; key < 6; ++key)
        ASSERT_EQ(map.set(key, static_cast<std::uint32_t>(key + 10)), Status::ok);
    // The seventh makes the map grow.
    ASSERT_EQ(map.set(99, *map.find(3)), Status::ok);
    EXPECT_EQ(*map.find(99), 13U);
    rig_.commit();
}

TEST_F(SimMapTest, IsAsItWasWhenTheHeapIsFull) {
    auto map = counts();
    std::uint64_t key = 0;
    while (map.set(key, 5) == Status::ok)
        ++key;
    EXPECT_GT(key, 10'000U);
    EXPECT_EQ(map.size(), key);
    EXPECT_EQ(map.set(key, 5), Status::capacity_exhausted);
    EXPECT_EQ(map.edit_or_add(key).status(), Status::capacity_exhausted);
    EXPECT_EQ(map.reserve(UINT32_MAX), Status::capacity_exhausted);
    EXPECT_EQ(map.size(), key);
    EXPECT_FALSE(map.contains(key));
    EXPECT_EQ(map.set(7, 6), Status::ok) << "what is there can be replaced";
    EXPECT_TRUE(map.erase(11));
    EXPECT_EQ(map.set(key, 5), Status::ok) << "a hole is room, though less than a quarter";
    EXPECT_EQ(world().counts.check(heap().base()), Status::ok);
    rig_.commit();
}

TEST_F(SimMapTest, IsReadInThePast) {
    auto map = counts();
    auto seen = heap().bind(world().seen);
    for (std::uint64_t key = 0; key < 1000; ++key) {
        ASSERT_EQ(map.set(key * key, static_cast<std::uint32_t>(key)), Status::ok);
        ASSERT_TRUE(seen.insert(static_cast<std::uint32_t>(key)));
    }
    for (std::uint64_t key = 0; key < 1000; key += 2)
        ASSERT_TRUE(map.erase(key * key));
    const Tick tick = rig_.commit();
    map.clear();
    seen.release();
    rig_.commit();

    const auto view = rig_.ring().view(tick);
    ASSERT_TRUE(view);
    const PastReader past(*view);
    const auto then = past.root<World>(heap(), "world");
    ASSERT_TRUE(then);
    for (std::uint64_t key = 0; key < 1000; ++key) {
        const auto value = then->counts.find(past, key * key);
        ASSERT_EQ(value.status(), key % 2 == 0 ? Status::not_found : Status::ok);
        ASSERT_EQ(value.value_or(0), key % 2 == 0 ? 0 : key);
    }
    std::uint64_t next = 1;
    ASSERT_EQ(then->counts.visit(past,
                                 [&](const auto& entry) {
                                     EXPECT_EQ(entry.key, next * next);
                                     next += 2;
                                 }),
              Status::ok);
    EXPECT_EQ(next, 1001U);
    EXPECT_TRUE(then->seen.contains(past, 999).value_or(false));
    EXPECT_FALSE(then->seen.contains(past, 1000).value_or(true));
    std::uint32_t keys = 0;
    ASSERT_EQ(then->seen.visit(past, [&](std::uint32_t key) { EXPECT_EQ(key, keys++); }), Status::ok);
    EXPECT_EQ(keys, 1000U);
}

TEST_F(SimMapTest, SetsKnowWhatIsNew) {
    auto seen = heap().bind(world().seen);
    EXPECT_TRUE(seen.insert(4).value_or(false));
    EXPECT_FALSE(seen.insert(4).value_or(true));
    EXPECT_TRUE(seen.insert(2).value_or(false));
    std::vector<std::uint32_t> order;
    for (const auto& [key] : seen)
        order.push_back(key);
    EXPECT_EQ(order, (std::vector<std::uint32_t>{4, 2}));
    EXPECT_TRUE(seen.erase(4));
    EXPECT_FALSE(seen.contains(4));
    EXPECT_EQ(seen.size(), 1U);
    rig_.commit();
}

TEST_F(SimMapTest, KnowsWhenItsBytesMakeNoSense) {
    auto map = counts();
    for (std::uint64_t key = 0; key < 40; ++key)
        ASSERT_EQ(map.set(key, 1), Status::ok);
    ASSERT_TRUE(map.erase(20));
    const Tick good = rig_.commit();
    const auto header = std::bit_cast<std::array<std::uint32_t, 4>>(world().counts);
    // The index and the bits in front of the entries; every word there has a meaning.
    Random random(3);
    const std::size_t index_bytes = 64 * 8 + 8;
    for (int i = 0; i < 300; ++i) {
        SCOPED_TRACE(i);
        const std::uint32_t at = header[0] + random.below(static_cast<std::uint32_t>(index_bytes));
        heap().edit(heap().base().start()[at]) ^= static_cast<std::byte>(1U << random.below(8));
        EXPECT_EQ(world().counts.check(heap().base()), Status::corrupt_data);
        ASSERT_TRUE(rig_.ring().rollback(good));
    }
    for (std::size_t word = 0; word < 4; ++word) {
        for (const std::uint32_t value : {0U, 3U, 0xffff'fff0U}) {
            auto bad = header;
            bad[word] = value;
            using Counts = SimMap<std::uint64_t, std::uint32_t>;
            EXPECT_EQ(std::bit_cast<Counts>(bad).check(heap().base()), Status::corrupt_data) << word;
        }
    }
    EXPECT_EQ(world().counts.check(heap().base()), Status::ok);
}

TEST_F(SimMapTest, AHeaderThatMakesNoSenseIsNotFollowedIntoThePast) {
    auto map = counts();
    for (std::uint64_t key = 0; key < 40; ++key)
        ASSERT_EQ(map.set(key, 1), Status::ok);
    const auto view = rig_.ring().view(rig_.commit());
    ASSERT_TRUE(view);
    const PastReader past(*view);
    const auto header = std::bit_cast<std::array<std::uint32_t, 4>>(world().counts);
    const auto ignore = [](const auto&) {};
    // Nowhere, more than ever were added, more than fit, and slots that are no power of two.
    for (const auto& [word, value] :
         {std::pair{0U, 0U}, {1U, 41U}, {2U, 49U}, {2U, UINT32_MAX}, {3U, 0U}, {3U, 63U}, {3U, 1U << 30}}) {
        SCOPED_TRACE(word);
        auto bad = header;
        bad[word] = value;
        const auto damaged = std::bit_cast<SimMap<std::uint64_t, std::uint32_t>>(bad);
        EXPECT_EQ(damaged.visit(past, ignore), Status::out_of_range) << value;
        EXPECT_EQ(damaged.find(past, 1).status(), Status::out_of_range) << value;
    }
    EXPECT_EQ(world().counts.visit(past, ignore), Status::ok);
}

struct alignas(64) Line {
    std::array<std::uint64_t, 8> words;
};
struct Lines {
    SimMap<std::uint64_t, Line> lines;
};

// Entries of a larger alignment than the heap's unit.
TEST_F(SimMapTest, ATableInAPlaceThatIsNoneForItsEntriesIsRefused) {
    const auto root = heap().make_root<Lines>("lines");
    ASSERT_TRUE(root);
    auto lines = heap().bind(heap().get(*root).lines);
    for (std::uint64_t key = 0; key < 5; ++key)
        ASSERT_EQ(lines.set(key, Line{}), Status::ok);
    using Table = SimMap<std::uint64_t, Line>;
    const auto header = std::bit_cast<std::array<std::uint32_t, 4>>(heap().get(*root).lines);
    // The same bytes in another place.
    const auto bytes = static_cast<std::size_t>(detail::SimTableLayout<Table::Entry>::bytes_of(header[3]));
    const auto copy = heap().allocate(bytes + 64, 64);
    ASSERT_TRUE(copy);
    heap().mark(copy->data, copy->size);
    for (const std::uint32_t skipped : {0U, 16U, 32U}) {
        std::memcpy(copy->data + skipped, heap().base().start() + header[0], bytes);
        auto moved = header;
        moved[0] = heap().offset_of(copy->data) + skipped;
        EXPECT_EQ(std::bit_cast<Table>(moved).check(heap().base()),
                  skipped == 0 ? Status::ok : Status::corrupt_data)
            << skipped;
    }
}

// The order of adding, as a vector; small enough to be searched.
class MapSubject {
public:
    using Model = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

    explicit MapSubject(ImageHeap& heap)
        : world_(heap.make_root<World>("world").value_or(OffsetPtr<World>())) {}

    void step(ImageHeap& heap, Model& model, Random& random) {
        auto map = heap.bind(heap.get(world_).counts);
        const std::uint64_t key = random.below(random.below(3) == 0 ? 40 : 400);
        const auto found = std::ranges::find(model, key, &Model::value_type::first);
        const std::uint32_t choice = random.below(100);
        if (choice < 45) {
            const std::uint32_t value = random.below(1000);
            EXPECT_EQ(map.set(key, value), Status::ok);
            if (found != model.end())
                found->second = value;
            else
                model.emplace_back(key, value);
        } else if (choice < 85) {
            EXPECT_EQ(map.erase(key), found != model.end());
            if (found != model.end()) model.erase(found);
        } else if (choice < 98) {
            const auto value = map.edit_or_add(key);
            ASSERT_TRUE(value);
            EXPECT_EQ(**value, found != model.end() ? found->second : 0U);
            **value += 5;
            if (found != model.end())
                found->second += 5;
            else
                model.emplace_back(key, 5);
        } else if (random.below(10) == 0) {
            random.below(2) == 0 ? map.clear() : map.release();
            model.clear();
        }
    }

    void expect_same(ImageHeap& heap, const Model& model) const {
        const auto map = heap.bind(heap.get(world_).counts);
        EXPECT_EQ(heap.get(world_).counts.check(heap.base()), Status::ok);
        ASSERT_EQ(map.size(), model.size());
        auto each = model.begin();
        for (const auto& [key, value] : map) {
            EXPECT_EQ(key, each->first);
            EXPECT_EQ(value, each->second);
            ++each;
        }
        for (const auto& [key, value] : model)
            ASSERT_TRUE(map.find(key) != nullptr && *map.find(key) == value);
    }

    void expect_same_past(const ImageHeap& heap, const PastReader& past, const Model& model) const {
        const auto world = past.root<World>(heap, "world");
        ASSERT_TRUE(world);
        Model then;
        ASSERT_EQ(world->counts.visit(past, [&](const auto& e) { then.emplace_back(e.key, e.value); }),
                  Status::ok);
        EXPECT_EQ(then, model);
        for (const auto& [key, value] : model)
            EXPECT_EQ(world->counts.find(past, key).value_or(~value), value);
    }

private:
    OffsetPtr<World> world_;
};

TEST(SimMapModel, IsAsTheStandardOneAtEveryTick) {
    testing_support::run_campaigns<MapSubject>();
}

}  // namespace
}  // namespace ouro
