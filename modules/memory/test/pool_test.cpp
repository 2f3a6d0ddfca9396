#include <ouro/base/random.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/pool.hpp>
#include <ouro/memory/stack_allocator.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::Handle;
using ouro::Pool;
using ouro::Status;

// Neither copied nor moved, and counted.
struct Creature {
    explicit Creature(int health_given) : health(health_given) { ++alive; }
    ~Creature() { --alive; }
    Creature(const Creature&) = delete;
    Creature& operator=(const Creature&) = delete;

    int health;
    static inline int alive = 0;
};

TEST(Pool, HandlesNoticeThatTheirObjectIsGone) {
    auto pool = Pool<Creature>::create({.max_objects = 100});
    ASSERT_TRUE(pool);
    const auto first = pool->emplace(10);
    ASSERT_TRUE(first);
    EXPECT_FALSE(first->is_null());
    ASSERT_NE(pool->get(*first), nullptr);
    EXPECT_EQ(pool->get(*first)->health, 10);
    EXPECT_EQ(pool->handle_of(pool->get(*first)), *first);
    EXPECT_EQ(pool->destroy(*first), Status::ok);
    EXPECT_EQ(pool->get(*first), nullptr);
    EXPECT_EQ(pool->destroy(*first), Status::stale_handle);

    const auto second = pool->emplace(20);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->index(), first->index());
    EXPECT_NE(*second, *first);
    EXPECT_EQ(pool->get(*first), nullptr);
    EXPECT_EQ(pool->get(*second)->health, 20);
}

TEST(Pool, HandlesOfNothingAreNull) {
    auto pool = Pool<Creature>::create({.max_objects = 100});
    ASSERT_TRUE(pool);
    EXPECT_EQ(pool->get({}), nullptr);
    EXPECT_EQ(pool->get(Handle<Creature>(99, 1)), nullptr);
    EXPECT_EQ(pool->get(Handle<Creature>(Handle<Creature>::kMaxIndex, 1)), nullptr);
    const auto handle = pool->emplace(1);
    ASSERT_TRUE(handle);
    EXPECT_EQ(pool->get({}), nullptr);
    ASSERT_EQ(pool->destroy(*handle), Status::ok);
    // The generation of the free slot is no handle's.
    EXPECT_EQ(pool->get(Handle<Creature>(handle->index(), handle->generation() + 1)), nullptr);
}

TEST(Pool, PlainPointersServeToo) {
    auto pool = Pool<Creature>::create({.max_objects = 2});
    ASSERT_TRUE(pool);
    auto one = pool->make(1);
    auto two = pool->make(2);
    ASSERT_TRUE(one && two);
    EXPECT_EQ(pool->make(3).status(), Status::capacity_exhausted);
    EXPECT_EQ(pool->emplace(3).status(), Status::capacity_exhausted);
    EXPECT_EQ(Creature::alive, 2);
    pool->destroy(*one);
    EXPECT_EQ(pool->count(), 1U);
    EXPECT_EQ((*two)->health, 2);
    EXPECT_EQ(*pool->make(4), *one);
}

TEST(Pool, GenerationsWrapAroundWithoutReachingNull) {
    // 20 bits of index leave 12 for the generation.
    using Small = Handle<Creature, std::uint32_t, 20>;
    auto pool = Pool<Creature, Small>::create({.max_objects = 4});
    ASSERT_TRUE(pool);
    std::set<std::uint32_t> seen;
    const auto first = pool->emplace(0);
    ASSERT_TRUE(first);
    seen.insert(first->bits());
    ASSERT_EQ(pool->destroy(*first), Status::ok);
    std::size_t occupants = 1;
    for (;; ++occupants) {
        const auto handle = pool->emplace(static_cast<int>(occupants));
        ASSERT_TRUE(handle);
        ASSERT_FALSE(handle->is_null());
        ASSERT_EQ(handle->index(), first->index());
        ASSERT_EQ(pool->get({}), nullptr);
        ASSERT_EQ(pool->get(*handle)->health, static_cast<int>(occupants));
        if (!seen.insert(handle->bits()).second) {
            // The oldest handle names an object again, and no other does.
            EXPECT_EQ(*handle, *first);
            break;
        }
        ASSERT_EQ(pool->get(*first), nullptr);
        ASSERT_EQ(pool->destroy(*handle), Status::ok);
    }
    EXPECT_EQ(occupants, (Small::kMaxGeneration + 1) / 2);
    EXPECT_EQ(pool->check(), Status::ok);
}

TEST(Pool, VisitsLiveObjectsInOrderAndMayDestroyThem) {
    auto pool = Pool<Creature>::create({.max_objects = 1000});
    ASSERT_TRUE(pool);
    EXPECT_TRUE(pool->begin() == pool->end());
    std::vector<Handle<Creature>> handles;
    for (int i = 0; i < 1000; ++i)
        handles.push_back(*pool->emplace(i));
    for (int i = 0; i < 1000; i += 3)
        ASSERT_EQ(pool->destroy(handles[static_cast<std::size_t>(i)]), Status::ok);
    int visited = 0;
    int last = -1;
    for (Creature& creature : *pool) {
        EXPECT_GT(creature.health, last);
        EXPECT_NE(creature.health % 3, 0);
        last = creature.health;
        ++visited;
        if (creature.health % 3 == 1) pool->destroy(&creature);
    }
    EXPECT_EQ(visited, 666);
    EXPECT_EQ(pool->count(), 333U);
    const auto& constant = *pool;
    for (const Creature& creature : constant)
        EXPECT_EQ(creature.health % 3, 2);
    EXPECT_EQ(constant.check(), Status::ok);
}

TEST(Pool, ClearDestroysEverythingAndEveryHandleIsStale) {
    Creature::alive = 0;
    auto pool = Pool<Creature>::create({.max_objects = 1000});
    ASSERT_TRUE(pool);
    std::vector<Handle<Creature>> handles;
    for (int i = 0; i < 500; ++i)
        handles.push_back(*pool->emplace(i));
    pool->clear();
    EXPECT_EQ(Creature::alive, 0);
    EXPECT_TRUE(pool->is_empty());
    for (int i = 0; i < 500; ++i)
        ASSERT_TRUE(pool->emplace(i));
    for (const auto handle : handles)
        ASSERT_EQ(pool->get(handle), nullptr);
    pool->clear();
    // Memory goes, generations stay.
    EXPECT_GT(pool->trim(), 0U);
    ASSERT_TRUE(pool->emplace(1));
    EXPECT_EQ(pool->get(handles[0]), nullptr);
    EXPECT_EQ(pool->check(), Status::ok);
}

TEST(Pool, EndsItsObjectsWithItself) {
    Creature::alive = 0;
    {
        auto pool = Pool<Creature>::create({.max_objects = 10});
        ASSERT_TRUE(pool && pool->make(1) && pool->make(2));
        Pool<Creature> moved = *std::move(pool);
        EXPECT_EQ(Creature::alive, 2);
        EXPECT_EQ(moved.count(), 2U);
        auto other = Pool<Creature>::create({.max_objects = 10});
        ASSERT_TRUE(other && other->make(3));
        EXPECT_EQ(Creature::alive, 3);
        moved = *std::move(other);
        EXPECT_EQ(Creature::alive, 1);
    }
    EXPECT_EQ(Creature::alive, 0);
}

struct Node {
    explicit Node(Pool<Node>& pool_given) : pool(pool_given) {}
    ~Node() {
        if (child) (void)pool.destroy(child);
    }
    Pool<Node>& pool;
    Handle<Node> child;
};

TEST(Pool, ObjectsMayDestroyOthersWhenTheyEnd) {
    auto pool = Pool<Node>::create({.max_objects = 100});
    ASSERT_TRUE(pool);
    // Parents stand before and behind their children.
    const auto root = *pool->emplace(*pool);
    const auto low = *pool->emplace(*pool);
    const auto high = *pool->emplace(*pool);
    pool->get(root)->child = high;
    pool->get(high)->child = low;
    EXPECT_EQ(pool->destroy(root), Status::ok);
    EXPECT_TRUE(pool->is_empty());
    const auto parent = *pool->emplace(*pool);
    pool->get(parent)->child = *pool->emplace(*pool);
    pool->clear();
    EXPECT_TRUE(pool->is_empty());
    EXPECT_EQ(pool->check(), Status::ok);
}

struct alignas(128) Wide {
    char byte = 1;
};

TEST(Pool, TakesAnyAlignmentAndAnyResource) {
    auto stack = ouro::StackAllocator::create({});
    ASSERT_TRUE(stack);
    {
        // Old bytes must not look like generations.
        const auto dirt = stack->allocate(100'000);
        std::fill_n(dirt->data, dirt->size, std::byte{0xFF});
        stack->deallocate(*dirt);
        auto wide = Pool<Wide>::create_on(*stack, {.max_objects = 50});
        auto bytes = Pool<char>::create_on(*stack, {.max_objects = 50});
        ASSERT_TRUE(wide && bytes);
        for (int i = 0; i < 50; ++i) {
            const auto object = wide->make();
            ASSERT_TRUE(object && bytes->make('x'));
            EXPECT_TRUE(ouro::is_aligned(*object, 128));
        }
        EXPECT_EQ(wide->make().status(), Status::capacity_exhausted);
        EXPECT_EQ(wide->check(), Status::ok);
        // The stack insists on its order.
        *bytes = *Pool<char>::create({.max_objects = 1});
    }
    EXPECT_EQ(stack->stats().live_blocks, 0U);
}

TEST(Pool, SenselessOptionsHaveTheirStatus) {
    using Small = Handle<int, std::uint32_t, 4>;
    EXPECT_EQ((Pool<int, Small>::create({.max_objects = 17}).status()), Status::out_of_range);
    EXPECT_TRUE((Pool<int, Small>::create({.max_objects = 16})));
    EXPECT_EQ(Pool<int>::create({.max_objects = 0}).status(), Status::zero_size);
    EXPECT_EQ(Pool<int>::create({.max_objects = 1, .initial_objects = 2}).status(), Status::bad_argument);
}

TEST(Pool, RandomCallsAgreeWithAModel) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        ouro::Random random(seed);
        auto pool =
            Pool<std::uint64_t, Handle<std::uint64_t, std::uint32_t, 12>>::create({.max_objects = 1500});
        ASSERT_TRUE(pool);
        std::map<std::uint32_t, std::uint64_t> live;
        std::vector<std::uint32_t> stale;
        for (int step = 0; step < 30'000; ++step) {
            const std::uint32_t choice = random.below(100);
            if (choice < 52 || live.empty()) {
                const std::uint64_t value = random.next();
                const auto handle = pool->emplace(value);
                ASSERT_EQ(handle.has_value(), live.size() < 1500);
                ASSERT_TRUE(!handle || live.emplace(handle->bits(), value).second);
            } else {
                auto chosen = live.lower_bound(random.below(~0U));
                if (chosen == live.end()) chosen = live.begin();
                const auto handle = Handle<std::uint64_t, std::uint32_t, 12>::from_bits(chosen->first);
                ASSERT_NE(pool->get(handle), nullptr);
                ASSERT_EQ(*pool->get(handle), chosen->second);
                ASSERT_EQ(pool->destroy(handle), Status::ok);
                stale.push_back(chosen->first);
                live.erase(chosen);
            }
            if (step % 1000 != 999) continue;
            ASSERT_EQ(pool->check(), Status::ok);
            ASSERT_EQ(pool->count(), live.size());
            std::size_t visited = 0;
            for (const std::uint64_t& value : *pool)
                visited += live.at(pool->handle_of(&value).bits()) == value ? 1U : 0U;
            ASSERT_EQ(visited, live.size());
            for (const std::uint32_t bits : stale)
                ASSERT_EQ(pool->get(Handle<std::uint64_t, std::uint32_t, 12>::from_bits(bits)), nullptr);
            if (step % 5000 == 4999) pool->trim();
        }
    }
}

TEST(Pool, ObjectsLieAtMultiplesOfWhatWasAskedFor) {
    auto pool = Pool<int, Handle<int>, 64>::create({.max_objects = 1000});
    ASSERT_TRUE(pool);
    const int* last = nullptr;
    for (int i = 0; i < 100; ++i) {
        const auto made = pool->make(i);
        ASSERT_TRUE(made);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(*made) % 64, 0U);
        if (last != nullptr) {
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(*made) - reinterpret_cast<std::uintptr_t>(last), 64U);
        }
        last = *made;
    }
    int expected = 0;
    for (const int value : *pool)
        EXPECT_EQ(value, expected++);
    EXPECT_EQ(expected, 100);
    EXPECT_EQ(pool->check(), Status::ok);
}

TEST(Pool, AnAlignmentBeyondAPageHoldsOnMemoryOfOthersToo) {
    auto frame = ouro::FrameAllocator::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(frame && frame->allocate(100));
    auto pool = Pool<int, Handle<int>, 8192>::create_on(*frame, {.max_objects = 20});
    ASSERT_TRUE(pool);
    for (int i = 0; i < 20; ++i) {
        const auto made = pool->make(i);
        ASSERT_TRUE(made);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(*made) % 8192, 0U);
    }
}

TEST(Pool, BelowTheThresholdItShrinksByItself) {
    for (const double threshold : {0.0, 0.25}) {
        auto pool =
            Pool<std::uint64_t>::create({.max_objects = std::size_t{1} << 20, .shrink_threshold = threshold});
        ASSERT_TRUE(pool);
        std::vector<Handle<std::uint64_t>> handles;
        for (std::uint64_t i = 0; i < 500'000; ++i)
            handles.push_back(*pool->emplace(i));
        const std::size_t committed = pool->stats().committed_bytes;
        while (handles.size() > 1000) {
            ASSERT_EQ(pool->destroy(handles.back()), Status::ok);
            handles.pop_back();
        }
        EXPECT_EQ(pool->stats().committed_bytes < committed, threshold != 0.0);
        EXPECT_EQ(pool->pool_stats().shrinks != 0, threshold != 0.0);
        for (std::size_t i = 0; i < handles.size(); ++i)
            ASSERT_EQ(*pool->get(handles[i]), i);
        EXPECT_EQ(pool->check(), Status::ok);
    }
}

}  // namespace
