#include "bad_requests.hpp"
#include "damage.hpp"
#include "resource_model.hpp"

#include <ouro/memory/shared_region.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/os/clock.hpp>

#include <cstring>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::OffsetPtr;
using ouro::SharedCache;
using ouro::SharedRegion;
using ouro::Status;
using ouro::SystemAllocator;
using ouro::testing_support::ResourceModel;
namespace shared = ouro::detail::shared;

constexpr std::size_t kBytes = std::size_t{2} << 20;
constexpr std::uint64_t kOwner = 7;
constexpr std::uint64_t kOther = 8;

class SharedRegionTest : public testing::Test {
protected:
    SharedRegionTest()
        : memory_(*system_.allocate(kBytes, SharedRegion::kAlignment)),
          region(*SharedRegion::create({memory_.data, kBytes}, {.max_caches = 4})) {}
    ~SharedRegionTest() override { system_.deallocate(memory_, SharedRegion::kAlignment); }

    [[nodiscard]] MemoryBlock memory() const { return {memory_.data, kBytes}; }
    [[nodiscard]] shared::Header& header() const { return *reinterpret_cast<shared::Header*>(memory_.data); }
    [[nodiscard]] shared::Unit& unit_of(const void* address) const {
        const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - memory_.data);
        const std::size_t unit = (offset - header().geometry.units_offset) / shared::kUnitBytes;
        return reinterpret_cast<shared::Unit*>(memory_.data + header().geometry.records_offset)[unit];
    }
    [[nodiscard]] shared::Cache& cache_of(const SharedCache& cache) const {
        return reinterpret_cast<shared::Cache*>(memory_.data +
                                                header().geometry.caches_offset)[cache.number()];
    }
    [[nodiscard]] std::uint64_t taken_bytes() const { return region.stats().taken_bytes; }

    SystemAllocator system_ = *SystemAllocator::create({.max_bytes = std::size_t{64} << 20});
    MemoryBlock memory_;
    SharedRegion region;
};

TEST_F(SharedRegionTest, BlocksOfAllSizesComeAndGo) {
    auto cache = *region.claim_cache(kOwner);
    std::vector<MemoryBlock> blocks;
    for (const std::size_t size :
         {1U, 8U, 16U, 17U, 100U, 1024U, 1025U, 4096U, 8192U, 8193U, 20'000U, 300'000U}) {
        const auto block = cache.allocate(size);
        ASSERT_TRUE(block) << size;
        EXPECT_GE(block->size, size);
        EXPECT_TRUE(cache.owns(block->data));
        std::memset(block->data, 0xAB, block->size);
        blocks.push_back(*block);
    }
    EXPECT_EQ(region.check(), Status::ok);
    EXPECT_EQ(region.stats().live_blocks, blocks.size());
    for (const MemoryBlock& block : blocks)
        cache.deallocate(block);
    EXPECT_EQ(region.check(), Status::ok);
    EXPECT_EQ(region.stats().live_bytes, 0U);
    EXPECT_GT(cache.trim(), 0U);
    EXPECT_EQ(taken_bytes(), 0U);
    EXPECT_GT(region.stats().peak_bytes, 300'000U);
    EXPECT_EQ(region.check(), Status::ok);
}

TEST_F(SharedRegionTest, RandomUseKeepsEveryByte) {
    const std::uint64_t seed = ouro::os::monotonic_ns();
    SCOPED_TRACE(seed);
    auto cache = *region.claim_cache(kOwner);
    ResourceModel model(cache, {.max_size = 3000, .max_alignment = 4096, .rare_size = 50'000}, seed);
    for (int step = 0; step < 20'000; ++step) {
        model.step();
        if (step % 1000 == 0) {
            ASSERT_EQ(region.check(), Status::ok);
            EXPECT_EQ(region.stats().live_blocks, model.live_blocks());
        }
        if (step % 3000 == 0) (void)cache.trim();
    }
    model.free_all();
    (void)cache.trim();
    EXPECT_EQ(taken_bytes(), 0U);
    EXPECT_EQ(region.check(), Status::ok);
}

TEST_F(SharedRegionTest, AlignmentsUpToAUnit) {
    auto cache = *region.claim_cache(kOwner);
    for (std::size_t alignment = 1; alignment <= SharedRegion::kAlignment; alignment *= 2) {
        for (const std::size_t size : {1U, 50U, 3000U, 9000U}) {
            const auto block = cache.allocate(size, alignment);
            ASSERT_TRUE(block);
            EXPECT_TRUE(ouro::is_aligned(block->data, alignment)) << size << " at " << alignment;
            cache.deallocate(*block, alignment);
        }
    }
    EXPECT_EQ(cache.allocate(1, 2 * SharedRegion::kAlignment).status(), Status::bad_alignment);
    EXPECT_EQ(cache.allocate(1, 3).status(), Status::bad_alignment);
    EXPECT_EQ(cache.allocate(0).status(), Status::zero_size);
    ouro::testing_support::expect_bad_requests_refused(cache);
    ouro::testing_support::expect_shortage_of_the_largest(cache);
}

TEST_F(SharedRegionTest, ExhaustionIsAStatusAndPasses) {
    auto cache = *region.claim_cache(kOwner);
    for (const std::size_t size : {64U, 2000U, 70'000U}) {
        std::vector<MemoryBlock> blocks;
        for (;;) {
            const auto block = cache.allocate(size);
            if (!block) {
                EXPECT_EQ(block.status(), Status::capacity_exhausted);
                break;
            }
            blocks.push_back(*block);
        }
        EXPECT_GT(blocks.size() * size, kBytes * 8 / 10) << "blocks of " << size;
        EXPECT_EQ(region.check(), Status::ok);
        // What is free again serves every other size, without anybody asking for it.
        for (const MemoryBlock& block : blocks)
            cache.deallocate(block);
    }
    EXPECT_EQ(region.stats().failures, 3U);
    EXPECT_EQ(region.stats().live_bytes, 0U);
}

TEST_F(SharedRegionTest, ResizesWithinAClass) {
    auto cache = *region.claim_cache(kOwner);
    const auto block = cache.allocate(100);
    ASSERT_TRUE(block);
    EXPECT_EQ(cache.try_resize(*block, block->size)->data, block->data);
    EXPECT_EQ(cache.try_resize(*block, 500).status(), Status::capacity_exhausted);
    std::memset(block->data, 0x5A, 100);
    const auto moved = cache.reallocate(*block, 20'000);
    ASSERT_TRUE(moved);
    EXPECT_EQ(moved->data[99], std::byte{0x5A});
    const auto same = cache.reallocate(*moved, 20'400);
    ASSERT_TRUE(same);
    EXPECT_EQ(same->data, moved->data);
    cache.deallocate(*same);
    EXPECT_EQ(region.stats().live_blocks, 0U);
}

TEST_F(SharedRegionTest, BlocksAreFreedThroughAnyCache) {
    auto one = *region.claim_cache(kOwner);
    auto other = *region.claim_cache(kOther);
    std::vector<MemoryBlock> blocks;
    for (int count = 0; count < 1000; ++count)
        blocks.push_back(*one.allocate(48));
    for (const MemoryBlock& block : blocks)
        other.deallocate(block);
    EXPECT_EQ(region.check(), Status::ok);
    (void)other.trim();
    (void)one.trim();
    EXPECT_EQ(taken_bytes(), 0U);
}

TEST_F(SharedRegionTest, CachesAreClaimedAndGivenBack) {
    EXPECT_EQ(region.claim_cache(0).status(), Status::bad_argument);
    {
        std::vector<SharedCache> caches;
        for (int count = 0; count < 4; ++count)
            caches.push_back(*region.claim_cache(kOwner));
        EXPECT_EQ(region.claim_cache(kOwner).status(), Status::capacity_exhausted);
        EXPECT_EQ(region.stats().claimed_caches, 4U);
        EXPECT_EQ(region.owner_of(3), kOwner);
        caches[0].deallocate(*caches[0].allocate(100));
        EXPECT_GT(region.stats().cached_bytes, 0U);
        caches[1] = std::move(caches[0]);
        EXPECT_EQ(region.stats().claimed_caches, 3U);
    }
    EXPECT_EQ(region.stats().claimed_caches, 0U);
    EXPECT_EQ(region.stats().cached_bytes, 0U);
    EXPECT_EQ(region.check(), Status::ok);
}

TEST_F(SharedRegionTest, WhatADeadOwnerKeptIsReclaimed) {
    // Never ended, as a process that dies does not end it.
    alignas(SharedCache) std::byte place[sizeof(SharedCache)];
    auto* const dead = ::new (place) SharedCache(*region.claim_cache(kOwner));
    const MemoryBlock used = *dead->allocate(200);
    dead->deallocate(*dead->allocate(100));
    EXPECT_EQ(region.reclaim_caches(99, kOther), 0U);
    EXPECT_EQ(region.reclaim_caches(kOwner, kOther), 1U);
    EXPECT_EQ(region.stats().claimed_caches, 0U);
    EXPECT_EQ(region.stats().cached_bytes, 0U);
    EXPECT_EQ(region.stats().live_blocks, 1U) << "what it used stays";
    EXPECT_EQ(region.check(), Status::ok);
    auto cache = *region.claim_cache(kOther);
    cache.deallocate(used);
    (void)cache.trim();
    EXPECT_EQ(taken_bytes(), 0U);
}

TEST_F(SharedRegionTest, ASlabThatADeadOwnerHeldIsPutDown) {
    auto cache = *region.claim_cache(kOwner);
    const MemoryBlock block = *cache.allocate(200);
    shared::Unit& slab = unit_of(block.data);
    // As it is when its only user dies with the slab in its hands.
    auto& list = header().lists[ouro::detail::class_of_size(block.size)].head;
    list.store(list.load() & ~std::uint64_t{0xFFFFFFFF});
    slab.state.store(shared::kStateHeld + cache.number());
    EXPECT_EQ(region.reclaim_caches(kOwner, kOther), 1U);
    EXPECT_EQ(slab.state.load(), shared::kStateListed);
    EXPECT_EQ(region.check(), Status::ok);
    cache_of(cache).owner.store(kOwner);
    cache.deallocate(block);
}

TEST_F(SharedRegionTest, RepairFreesWhatBelongsToNobody) {
    auto cache = *region.claim_cache(kOwner);
    const MemoryBlock small = *cache.allocate(200);
    const MemoryBlock large = *cache.allocate(20'000);
    const MemoryBlock lost = *cache.allocate(12'000);
    std::memset(small.data, 1, small.size);
    // Taken and not named yet; and a slab that fell off its list.
    unit_of(lost.data).kind.store(0);
    auto& list = header().lists[ouro::detail::class_of_size(small.size)].head;
    list.store(list.load() & ~std::uint64_t{0xFFFFFFFF});
    EXPECT_EQ(region.check(), Status::corrupt_data);
    EXPECT_EQ(region.repair(), 12'288U);
    EXPECT_EQ(region.check(), Status::ok);
    EXPECT_EQ(region.repair(), 0U);
    EXPECT_EQ(small.data[0], std::byte{1});
    cache.deallocate(small);
    cache.deallocate(large);
    (void)cache.trim();
    EXPECT_EQ(taken_bytes(), 0U);
}

TEST_F(SharedRegionTest, AnotherViewSeesTheSame) {
    auto cache = *region.claim_cache(kOwner);
    const MemoryBlock block = *cache.allocate(sizeof(int), alignof(int));
    *reinterpret_cast<int*>(block.data) = 42;
    const auto pointer = OffsetPtr<int>::to(reinterpret_cast<int*>(block.data), region.base());
    const auto other = SharedRegion::attach(memory());
    ASSERT_TRUE(other);
    EXPECT_EQ(*pointer.in(other->base()), 42);
    EXPECT_EQ(other->stats().live_blocks, 1U);
    auto others = *other->claim_cache(kOther);
    others.deallocate(block, alignof(int));
    EXPECT_EQ(region.stats().live_blocks, 0U);
}

TEST_F(SharedRegionTest, WhatIsNoRegionIsRefused) {
    const MemoryBlock part{memory_.data + 4096, kBytes - 4096};
    EXPECT_EQ(SharedRegion::attach({memory_.data + 64, kBytes - 64}).status(), Status::bad_alignment);
    EXPECT_EQ(SharedRegion::attach(part).status(), Status::wrong_format);
    EXPECT_EQ(SharedRegion::attach({memory_.data, 10}).status(), Status::wrong_format);
    EXPECT_EQ(SharedRegion::attach({memory_.data, kBytes / 2}).status(), Status::out_of_range);
    header().geometry.units_offset += 4096;
    EXPECT_EQ(SharedRegion::attach(memory()).status(), Status::corrupt_data);
    header().geometry.units_offset -= 4096;
    header().geometry.cache_count = 0;
    EXPECT_EQ(SharedRegion::attach(memory()).status(), Status::corrupt_data);
    header().geometry.cache_count = 4;
    header().version = 2;
    EXPECT_EQ(SharedRegion::attach(memory()).status(), Status::wrong_format);
    EXPECT_EQ(SharedRegion::create({memory_.data + 64, kBytes - 64}).status(), Status::bad_alignment);
    EXPECT_EQ(SharedRegion::create({memory_.data, 65'536}).status(), Status::capacity_exhausted);
    EXPECT_EQ(SharedRegion::create(memory(), {.max_caches = 0}).status(), Status::bad_argument);
    EXPECT_EQ(SharedRegion::create(memory(), {.max_caches = 4097}).status(), Status::bad_argument);
}

TEST_F(SharedRegionTest, DamageIsFound) {
    auto cache = *region.claim_cache(kOwner);
    const MemoryBlock small = *cache.allocate(200);
    const MemoryBlock large = *cache.allocate(20'000);
    const unsigned size_class = ouro::detail::class_of_size(small.size);
    shared::Unit& slab = unit_of(small.data);
    shared::Unit& run = unit_of(large.data);
    shared::Cache& own = cache_of(cache);
    auto& taken =
        *reinterpret_cast<std::atomic<std::uint64_t>*>(memory_.data + header().geometry.taken_offset);

    OURO_EXPECT_FOUND(region, slab.kind, shared::kind_word(shared::UnitKind::slab, 44));
    OURO_EXPECT_FOUND(region, slab.kind, 0);
    OURO_EXPECT_FOUND(region, slab.kind, 200);
    OURO_EXPECT_FOUND(region, slab.state, shared::kStateUnlisted);
    OURO_EXPECT_FOUND(region, slab.state, shared::kStateHeld + cache.number());
    OURO_EXPECT_FOUND(region, slab.state, shared::kStateHeld + 100);
    OURO_EXPECT_FOUND(
        region, slab.next,
        1 + static_cast<unsigned>(&slab - &unit_of(region.base().start() + header().geometry.units_offset)));
    OURO_EXPECT_FOUND(region, slab.next, ~0U);
    OURO_EXPECT_FOUND(region, slab.free[1], ~std::uint64_t{0});
    OURO_EXPECT_FOUND(region, slab.free[0], slab.free[0].load() | 0xFF);
    OURO_EXPECT_FOUND(region, (&slab)[1].kind, 0);
    OURO_EXPECT_FOUND(region, (&slab)[1].state, shared::kStateListed);
    OURO_EXPECT_FOUND(region, (&slab)[1].free[2], 1);
    OURO_EXPECT_FOUND(region, run.kind, shared::kind_word(shared::UnitKind::large, 4));
    OURO_EXPECT_FOUND(region, run.kind, shared::kind_word(shared::UnitKind::large, 1 << 20));
    OURO_EXPECT_FOUND(region, run.state, shared::kStateListed);
    OURO_EXPECT_FOUND(region, (&run)[1].kind, shared::kind_word(shared::UnitKind::slab_part, 1));
    OURO_EXPECT_FOUND(region, (&run)[2].free[0], 1);
    OURO_EXPECT_FOUND(region, taken, taken.load() & ~std::uint64_t{1});
    OURO_EXPECT_FOUND(region, taken, taken.load() | std::uint64_t{1} << 63);
    OURO_EXPECT_FOUND(region, header().taken_units, 1);
    OURO_EXPECT_FOUND(region, header().peak_units, 1);
    OURO_EXPECT_FOUND(region, header().hint, 1);
    OURO_EXPECT_FOUND(region, header().hint, 0xFFFFFFFF);
    OURO_EXPECT_FOUND(region, header().lists[size_class].head, 0);
    OURO_EXPECT_FOUND(region, header().lists[size_class].head, 0xFFFFFFF);
    OURO_EXPECT_FOUND(region, header().lists[size_class + 1].head, header().lists[size_class].head.load());
    OURO_EXPECT_FOUND(region, own.owner, 0);
    OURO_EXPECT_FOUND(region, own.counts[size_class], 33);
    OURO_EXPECT_FOUND(region, own.counts[0], 1);
    OURO_EXPECT_FOUND(region, own.blocks[size_class][0], 0);
    OURO_EXPECT_FOUND(region, own.blocks[size_class][0], own.blocks[size_class][0].load() + 1);
    OURO_EXPECT_FOUND(region, own.blocks[size_class][0], own.blocks[size_class][1].load());
    OURO_EXPECT_FOUND(region, own.blocks[size_class][0], ~0U);
    cache.deallocate(small);
    cache.deallocate(large);
}

}  // namespace
