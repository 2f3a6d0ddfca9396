// That a setting reaches the strategy that it is about, and does there what it says.
#include <ouro/memory/guarded_allocator.hpp>
#include <ouro/memory/memory_options.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <gtest/gtest.h>

namespace {

using namespace ouro;

MemoryConfig read(const char* text) {
    MemoryConfig config;
    EXPECT_TRUE(parse_config(text, config)) << text;
    return config;
}

TEST(MemoryOptions, TheDefaultsAreThoseOfTheStrategies) {
    const MemoryConfig config;
    EXPECT_EQ(small_object_options(config).max_bytes, SmallObjectAllocator::Options{}.max_bytes);
    EXPECT_EQ(small_object_options(config).purge_threshold_bytes,
              SmallObjectAllocator::Options{}.purge_threshold_bytes);
    EXPECT_EQ(small_object_options(config).largest_small_bytes,
              SmallObjectAllocator::Options{}.largest_small_bytes);
    // Neither asks for huge pages.
    EXPECT_GE(small_object_options(config).huge_pages_from_bytes, small_object_options(config).max_bytes);
    EXPECT_EQ(SmallObjectAllocator::Options{}.huge_pages_from_bytes, SmallObjectAllocator::kNoHugePages);
    EXPECT_EQ(system_options(config).cache_bytes, SystemAllocator::Options{}.cache_bytes);
    EXPECT_EQ(tagged_options(config).budget_bytes, TaggedAllocator::kNoBudget);
}

TEST(MemoryOptions, TheHeapHasItsBound) {
    auto heap = SmallObjectAllocator::create(small_object_options(read("heap_max_bytes=2M")));
    ASSERT_TRUE(heap);
    EXPECT_FALSE(heap->allocate(std::size_t{4} << 20));
    EXPECT_TRUE(heap->allocate(1000));
}

TEST(MemoryOptions, TheSizeClassesEndWhereTheyWereTold) {
    auto heap = SmallObjectAllocator::create(small_object_options(read("largest_small_bytes=2K")));
    ASSERT_TRUE(heap);
    const auto small = heap->allocate(2000);
    const auto large = heap->allocate(2049);
    ASSERT_TRUE(small && large);
    EXPECT_EQ(small->size, 2048U);
    EXPECT_EQ(large->size, 65536U);
    heap->deallocate(*small);
    heap->deallocate(*large);
}

TEST(MemoryOptions, TheBuildDecidesWhetherAConfigurationAsksForHugePages) {
    const auto asked = OURO_HUGE_PAGES ? os::PageKind::transparent : os::PageKind::normal;
    EXPECT_EQ(huge_page_options(MemoryConfig{}).pages, asked);
}

// Whoever makes one wants huge pages. Reserved ones, which others were promised, are taken on demand only.
TEST(MemoryOptions, AnArenaByItselfAsksForTransparentPages) {
    auto arena = HugePageArena::create({.max_bytes = std::size_t{2} << 20});
    ASSERT_TRUE(arena && arena->allocate(1000));
    const HugePageArena::Report report = arena->report();
    EXPECT_EQ(report.asked, os::PageKind::transparent);
    EXPECT_EQ(report.reserved_bytes, 0U);
    EXPECT_EQ(report.normal_bytes != 0, report.downgrades != 0);
}

TEST(MemoryOptions, TheSystemKeepsAsMuchAsItMay) {
    const auto kept_by = [](const char* text) {
        auto system = SystemAllocator::create(system_options(read(text)));
        EXPECT_TRUE(system);
        const auto block = system->allocate(65536);
        EXPECT_TRUE(block);
        system->deallocate(*block);
        return system->stats().committed_bytes;
    };
    EXPECT_EQ(kept_by("system_cache_bytes=0"), 0U);
    EXPECT_EQ(kept_by("system_cache_bytes=1M"), 65536U);
}

TEST(MemoryOptions, TheBudgetHolds) {
    auto system = SystemAllocator::create({});
    ASSERT_TRUE(system);
    TaggedAllocator tagged(*system, tagged_options(read("budget_bytes=1M system_cache_bytes=0")));
    EXPECT_EQ(tagged.allocate((std::size_t{1} << 20) + 1).status(), Status::budget_exceeded);
    const auto block = tagged.allocate(std::size_t{1} << 20);
    ASSERT_TRUE(block);
    tagged.deallocate(*block);
}

TEST(MemoryOptions, ArenasAskForThePagesTheyWereTold) {
    const auto asked_by = [](const char* text) {
        auto arena = HugePageArena::create(huge_page_options(read(text)));
        EXPECT_TRUE(arena);
        return arena->report().asked;
    };
    EXPECT_EQ(asked_by("huge_pages=off"), os::PageKind::normal);
    EXPECT_EQ(asked_by("huge_pages=transparent"), os::PageKind::transparent);
    EXPECT_EQ(asked_by("huge_pages=reserved"), os::PageKind::reserved);
}

TEST(MemoryOptions, GuardsSampleAsOftenAsTheyWereTold) {
    const auto guards = SampledGuards::create(sampled_guards_options(read("guard_sampling=123")));
    if (!guards) {
        EXPECT_EQ(guards.status(), Status::not_supported);
    } else {
        EXPECT_EQ(guards->sample_every(), 123U);
    }
    auto system = SystemAllocator::create({});
    ASSERT_TRUE(system);
    auto guarded = GuardedAllocator<HardeningTier::hardened>::create_on(
        *system, guard_options(read("guard_sampling=1")));
    ASSERT_TRUE(guarded);
    const auto block = guarded->allocate(100);
    ASSERT_TRUE(block);
    EXPECT_EQ(system->owns(block->data), !guarded->has_guard_pages());
    guarded->deallocate(*block);
}

TEST(MemoryOptions, PlacementIsDoneOrSaysThatItWasNot) {
    const auto memory = os::reserve({.bytes = 65536});
    ASSERT_TRUE(memory && os::commit(*memory));
    const auto left = place_for_this_thread(read("numa=off"), *memory);
    ASSERT_TRUE(left);
    EXPECT_EQ(*left, NumaPlacement::left_to_system);
    const auto placed = place_for_this_thread(read("numa=local"), *memory);
    if (placed) {
        EXPECT_EQ(*placed == NumaPlacement::single_node, os::numa_node_count() == 1);
    } else {
        EXPECT_EQ(placed.status(), Status::permission_denied);
    }
    EXPECT_TRUE(os::release(*memory));
}

}  // namespace
