#include "fresh_tags.hpp"
#include "profile_support.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/observe/charged_allocator.hpp>
#include <ouro/observe/ledger.hpp>

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using test::expect_near_truth;
using test::fresh_tag;
using test::KnownAmount;
using test::Profiling;
using test::sum_of_sites;

class ProfilerTest : public testing::Test {
protected:
    using Blocks = std::vector<MemoryBlock>;

    MemoryBlock take(std::size_t size) {
        const auto block = memory_.allocate(size);
        EXPECT_TRUE(block);
        return block ? *block : MemoryBlock{};
    }
    void free_all(Blocks& blocks) {
        for (const MemoryBlock block : blocks)
            memory_.deallocate(block);
        blocks.clear();
    }
    Blocks take_many(std::size_t count, std::size_t size) {
        Blocks blocks;
        for (std::size_t i = 0; i < count; ++i)
            blocks.push_back(take(size));
        return blocks;
    }

    Tag tag_ = fresh_tag();
    SmallObjectAllocator heap_ = *SmallObjectAllocator::create({});
    ChargedAllocator<SmallObjectAllocator> memory_{heap_, tag_};
};

// A resource that can be made to fail.
class Failing final : public MemoryResource {
public:
    explicit Failing(MemoryResource& upstream) : upstream_(upstream) {}
    bool fails = false;

    [[nodiscard]] Expected<MemoryBlock> allocate(std::size_t size, std::size_t alignment) noexcept override {
        if (fails) return Status::out_of_memory;
        return upstream_.allocate(size, alignment);
    }
    void deallocate(MemoryBlock block, std::size_t alignment) noexcept override {
        upstream_.deallocate(block, alignment);
    }
    [[nodiscard]] Expected<MemoryBlock> reallocate(MemoryBlock block, std::size_t new_size,
                                                   std::size_t alignment) noexcept override {
        return upstream_.reallocate(block, new_size, alignment);
    }
    [[nodiscard]] bool owns(const void* address) const noexcept override { return upstream_.owns(address); }
    [[nodiscard]] ResourceInfo info() const noexcept override { return upstream_.info(); }
    [[nodiscard]] ResourceStats stats() const noexcept override { return upstream_.stats(); }
    [[nodiscard]] Status check() const noexcept override { return upstream_.check(); }

private:
    MemoryResource& upstream_;
};

using SizeOf = std::size_t (*)(Random& random);

std::size_t one_size(Random&) {
    return 48;
}
std::size_t even_sizes(Random& random) {
    return 1 + random.below(20'000);
}
// Most are small, most bytes are in few.
std::size_t heavy_tail(Random& random) {
    const unsigned shift = random.below(18);
    return 16 + random.below(std::uint32_t{1} << (random.below(20) == 0 ? shift : shift / 3));
}
std::size_t around_the_mean(Random& random) {
    return 8'000 + random.below(60'000);
}

TEST_F(ProfilerTest, EstimatesLieWithinTheirConfidence) {
    constexpr std::size_t kMean = 16 << 10;
    constexpr std::array<SizeOf, 4> kDistributions{one_size, even_sizes, heavy_tail, around_the_mean};
    for (std::size_t which = 0; which < kDistributions.size(); ++which) {
        for (const std::uint64_t seed : {1U, 20U, 300U, 4'000U}) {
            SCOPED_TRACE(testing::Message() << "distribution " << which << ", seed " << seed);
            const Profiling profiling({.mean_bytes = kMean, .seed = seed});
            Random random(seed, which);
            KnownAmount all;
            KnownAmount live;
            Blocks blocks;
            // As many as fit, also into the little that wasm32 has.
            const int count = kDistributions[which] == around_the_mean ? 1'000 : 4'000;
            for (int i = 0; i < count; ++i) {
                const std::size_t size = kDistributions[which](random);
                const MemoryBlock block = take(size);
                all.add(static_cast<double>(size), kMean);
                if (random.below(3) == 0) {
                    memory_.deallocate(block);
                } else {
                    live.add(static_cast<double>(size), kMean);
                    blocks.push_back(block);
                }
            }
            const SiteProfile estimate = sum_of_sites(tag_);
            EXPECT_GT(estimate.samples, 0U);
            expect_near_truth(estimate.allocated, all);
            expect_near_truth(estimate.live, live);
            free_all(blocks);
            EXPECT_EQ(sum_of_sites(tag_).live.bytes, 0U);
            EXPECT_EQ(sum_of_sites(tag_).live.blocks, 0U);
            EXPECT_EQ(sum_of_sites(tag_).live_samples, 0U);
        }
    }
}

// The mean of many runs comes closer to the truth than a single one may be off.
TEST_F(ProfilerTest, EstimatesHaveNoBias) {
    constexpr std::size_t kMean = 4 << 10;
    constexpr std::size_t kSize = 1'000;
    constexpr int kRuns = 200;
    KnownAmount truth;
    ProfileAmount sum;
    for (int run = 0; run < kRuns; ++run) {
        const Profiling profiling({.mean_bytes = kMean, .seed = static_cast<std::uint64_t>(run) + 1});
        Blocks blocks = take_many(100, kSize);
        const SiteProfile estimate = sum_of_sites(tag_);
        sum.bytes += estimate.allocated.bytes;
        sum.blocks += estimate.allocated.blocks;
        for (int i = 0; i < 100; ++i)
            truth.add(kSize, kMean);
        free_all(blocks);
    }
    expect_near_truth(sum, truth);
}

TEST_F(ProfilerTest, TheSameSeedSamplesTheSame) {
    const auto samples_with = [&](std::uint64_t seed) {
        const Profiling profiling({.mean_bytes = 1'000, .seed = seed});
        std::vector<std::uint64_t> counts;
        for (int i = 0; i < 200; ++i) {
            memory_.deallocate(take(100));
            counts.push_back(profiler_state().samples);
        }
        return counts;
    };
    const auto first = samples_with(7);
    EXPECT_EQ(first, samples_with(7));
    EXPECT_NE(first, samples_with(8));
}

TEST_F(ProfilerTest, StartedLateItSeesEverythingFromThenOn) {
    // Far from the end of any countdown.
    Blocks before = take_many(100, 10);
    EXPECT_FALSE(profiler_state().is_running);
    const Profiling profiling({.mean_bytes = 1, .seed = 3});
    EXPECT_EQ(sum_of_sites(tag_).live.blocks, 0U);
    Blocks blocks = take_many(50, 100);
    EXPECT_EQ(sum_of_sites(tag_).samples, 50U);
    EXPECT_EQ(sum_of_sites(tag_).live.bytes, 5'000U);
    EXPECT_EQ(sum_of_sites(tag_).live.blocks, 50U);
    // What it does not know is no matter to it.
    free_all(before);
    EXPECT_EQ(sum_of_sites(tag_).live.bytes, 5'000U);
    free_all(blocks);
    EXPECT_EQ(profiler_state().live.bytes, 0U);
}

TEST_F(ProfilerTest, StoppedItStillNoticesFrees) {
    Blocks blocks;
    {
        const Profiling profiling({.mean_bytes = 1, .seed = 3});
        blocks = take_many(50, 100);
    }
    Blocks later = take_many(50, 100);
    EXPECT_EQ(sum_of_sites(tag_).samples, 50U);
    EXPECT_FALSE(profiler_state().is_running);
    EXPECT_NE(profiler_state().stopped_ns, 0U);
    free_all(later);
    EXPECT_EQ(sum_of_sites(tag_).live.blocks, 50U);
    free_all(blocks);
    EXPECT_EQ(sum_of_sites(tag_).live.blocks, 0U);
}

TEST_F(ProfilerTest, StartedAgainItBeginsAnewAndIgnoresOldBlocks) {
    Blocks old;
    {
        const Profiling profiling({.mean_bytes = 1, .seed = 3});
        old = take_many(20, 100);
    }
    const Profiling profiling({.mean_bytes = 1, .seed = 4});
    EXPECT_EQ(site_count(), 1U);
    Blocks blocks = take_many(10, 100);
    free_all(old);
    EXPECT_EQ(sum_of_sites(tag_).live.blocks, 10U);
    free_all(blocks);
    EXPECT_EQ(sum_of_sites(tag_).live.blocks, 0U);
}

TEST_F(ProfilerTest, ChangingTheRateKeepsSumsUnbiased) {
    const Profiling profiling({.mean_bytes = 1, .seed = 5});
    KnownAmount truth;
    Blocks blocks;
    constexpr std::array<std::size_t, 4> kMeans{1'000, 50'000, 3, 8'000};
    for (const std::size_t mean : kMeans) {
        ASSERT_TRUE(set_profiler_mean(mean));
        for (int i = 0; i < 2'000; ++i) {
            blocks.push_back(take(200));
            truth.add(200, static_cast<double>(mean));
        }
    }
    expect_near_truth(sum_of_sites(tag_).live, truth);
    free_all(blocks);
    EXPECT_EQ(sum_of_sites(tag_).live.bytes, 0U);
}

// A block that is resized is one that goes and one that comes, however often.
TEST_F(ProfilerTest, GrowingAndShrinkingBlocksKeepTheirPlace) {
    constexpr std::size_t kMean = 2'000;
    const Profiling profiling({.mean_bytes = kMean, .seed = 6});
    KnownAmount allocated;
    Blocks blocks = take_many(2'000, 100);
    for (std::size_t i = 0; i < blocks.size(); ++i)
        allocated.add(100, kMean);
    for (const std::size_t size : {400U, 1'500U, 6'000U, 600U, 4'000U, 50U, 700U}) {
        KnownAmount live;
        for (MemoryBlock& block : blocks) {
            const auto resized = memory_.reallocate(block, size);
            ASSERT_TRUE(resized);
            block = *resized;
            live.add(static_cast<double>(size), kMean);
            allocated.add(static_cast<double>(size), kMean);
        }
        expect_near_truth(sum_of_sites(tag_).live, live);
        expect_near_truth(sum_of_sites(tag_).allocated, allocated);
    }
    free_all(blocks);
    EXPECT_EQ(sum_of_sites(tag_).live.bytes, 0U);
    EXPECT_EQ(sum_of_sites(tag_).live.blocks, 0U);
}

// The next small block must not stand for what could not be had.
TEST_F(ProfilerTest, FailedAllocationsCountForNothing) {
    constexpr std::size_t kMean = 512 << 10;
    constexpr std::size_t kTooMuch = std::size_t{1} << (8 * sizeof(void*) - 4);
    const Profiling profiling({.mean_bytes = kMean, .seed = 8});
    Failing heap(heap_);
    ChargedAllocator memory(heap, tag_);
    KnownAmount truth;
    Blocks blocks;
    for (int i = 0; i < 1'000; ++i) {
        EXPECT_FALSE(memory.allocate(kTooMuch));
        heap.fails = true;
        // Within credit, most of them.
        EXPECT_FALSE(memory.allocate(1'000));
        heap.fails = false;
        const auto block = memory.allocate(16);
        ASSERT_TRUE(block);
        blocks.push_back(*block);
        truth.add(16, kMean);
    }
    expect_near_truth(sum_of_sites(tag_).allocated, truth);
    for (const MemoryBlock block : blocks)
        memory.deallocate(block);
}

// A block whose change fails stays what it was.
TEST_F(ProfilerTest, AFailedResizeKeepsTheSample) {
    const Profiling profiling({.mean_bytes = 1, .seed = 9});
    const MemoryBlock block = take(100);
    EXPECT_FALSE(memory_.reallocate(block, std::size_t{1} << (8 * sizeof(void*) - 4)));
    EXPECT_EQ(sum_of_sites(tag_).live.bytes, 100U);
    EXPECT_EQ(sum_of_sites(tag_).live_samples, 1U);
    memory_.deallocate(block);
    EXPECT_EQ(sum_of_sites(tag_).live.bytes, 0U);
}

TEST_F(ProfilerTest, TemporaryIsWhatTheSameThreadFreesSoon) {
    const Profiling profiling({.mean_bytes = 1, .temporary_bytes = 1'000, .seed = 7});
    memory_.deallocate(take(5'000));
    EXPECT_EQ(sum_of_sites(tag_).temporary.bytes, 5'000U);
    const MemoryBlock kept = take(100);
    Blocks between = take_many(10, 100);
    memory_.deallocate(kept);
    EXPECT_EQ(sum_of_sites(tag_).temporary.bytes, 5'100U);
    const MemoryBlock longer = take(100);
    between.push_back(take(1'001));
    memory_.deallocate(longer);
    EXPECT_EQ(sum_of_sites(tag_).temporary.bytes, 5'100U);
    EXPECT_EQ(sum_of_sites(tag_).temporary.blocks, 2U);
    free_all(between);
}

// A block that is resized is one that goes and one that comes.
TEST_F(ProfilerTest, WhatIsResizedSoonWasTemporary) {
    const Profiling profiling({.mean_bytes = 1, .temporary_bytes = 1'000, .seed = 7});
    const MemoryBlock soon = *memory_.reallocate(take(5'000), 6'000);
    EXPECT_EQ(sum_of_sites(tag_).temporary.bytes, 5'000U);
    const MemoryBlock between = take(1'001);
    const MemoryBlock late = *memory_.reallocate(soon, 7'000);
    EXPECT_EQ(sum_of_sites(tag_).temporary.bytes, 5'000U);
    EXPECT_EQ(sum_of_sites(tag_).temporary.blocks, 1U);
    memory_.deallocate(between);
    memory_.deallocate(late);
    EXPECT_EQ(sum_of_sites(tag_).live.bytes, 0U);
}

TEST_F(ProfilerTest, GrowthCountsFromTheMark) {
    const Profiling profiling({.mean_bytes = 1, .seed = 8});
    Blocks early = take_many(10, 100);
    EXPECT_EQ(sum_of_sites(tag_).growth_bytes, 1'000);
    mark_growth();
    EXPECT_EQ(sum_of_sites(tag_).growth_bytes, 0);
    Blocks late = take_many(3, 100);
    EXPECT_EQ(sum_of_sites(tag_).growth_bytes, 300);
    std::array<SiteProfile, 4> sites;
    const auto top = top_sites(SiteOrder::growth, sites);
    ASSERT_EQ(top.size(), 1U);
    EXPECT_EQ(top[0].growth_bytes, 300);
    free_all(early);
    EXPECT_EQ(sum_of_sites(tag_).growth_bytes, -700);
    free_all(late);
    EXPECT_TRUE(top_sites(SiteOrder::growth, sites).empty());
}

// Sites of their own, also where stacks cannot be seen.
TEST_F(ProfilerTest, TheTopSitesAreTheLargest) {
    const Profiling profiling({.mean_bytes = 1, .seed = 9});
    constexpr std::size_t kSites = 20;
    std::vector<Tag> tags;
    std::array<MemoryBlock, kSites> blocks;
    for (std::size_t i = 0; i < kSites; ++i) {
        tags.push_back(fresh_tag());
        ChargedAllocator memory(heap_, tags.back());
        blocks[i] = *memory.allocate(100 + 100 * (i * 7 % kSites));
    }
    std::array<SiteProfile, 5> sites;
    for (const SiteOrder order :
         {SiteOrder::live, SiteOrder::allocated, SiteOrder::peak, SiteOrder::growth}) {
        const auto top = top_sites(order, sites);
        ASSERT_EQ(top.size(), sites.size());
        for (std::size_t rank = 0; rank < top.size(); ++rank) {
            EXPECT_EQ(top[rank].live.bytes, 100 * (kSites - rank));
            EXPECT_EQ(top[rank].samples, 1U);
        }
    }
    EXPECT_TRUE(top_sites(SiteOrder::temporary, sites).empty());
    for (const MemoryBlock block : blocks)
        memory_.deallocate(block);
    EXPECT_TRUE(top_sites(SiteOrder::live, sites).empty());
    EXPECT_EQ(top_sites(SiteOrder::peak, sites).size(), sites.size());
}

TEST_F(ProfilerTest, FullTablesCountWhatTheyDrop) {
    const Profiling profiling({.mean_bytes = 1, .seed = 10});
    constexpr std::size_t kMore = 100;
    Blocks blocks = take_many(detail::kMaxLiveSamples - 1 + kMore, 40);
    EXPECT_EQ(profiler_state().dropped_blocks, kMore);
    EXPECT_EQ(sum_of_sites(tag_).allocated.blocks, blocks.size());
    EXPECT_EQ(sum_of_sites(tag_).live.blocks, detail::kMaxLiveSamples - 1);
    free_all(blocks);
    EXPECT_EQ(sum_of_sites(tag_).live.blocks, 0U);
    blocks = take_many(10, 40);
    EXPECT_EQ(sum_of_sites(tag_).live.blocks, 10U);
    EXPECT_EQ(profiler_state().dropped_blocks, kMore);
    free_all(blocks);
}

TEST_F(ProfilerTest, BadOptionsAreRefused) {
    EXPECT_EQ(start_profiler({.mean_bytes = 0}).status(), Status::bad_argument);
    EXPECT_EQ(start_profiler({.stack_depth = 0}).status(), Status::bad_argument);
    EXPECT_EQ(start_profiler({.stack_depth = detail::kMaxSiteFrames + 1}).status(), Status::bad_argument);
    EXPECT_EQ(set_profiler_mean(1).status(), Status::not_found);
    const Profiling profiling({});
    EXPECT_EQ(start_profiler({}).status(), Status::busy);
    EXPECT_EQ(set_profiler_mean(0).status(), Status::bad_argument);
    EXPECT_EQ(profiler_state().mean_bytes, ProfilerOptions{}.mean_bytes);
}

TEST_F(ProfilerTest, CountsInItsOwnCost) {
    const Profiling profiling({.mean_bytes = 1, .seed = 11});
    Blocks blocks = take_many(1'000, 40);
    EXPECT_GE(observe_cost().used_bytes, 1'000 * sizeof(detail::LiveSample));
    EXPECT_GE(observe_cost().reserved_bytes, sizeof(detail::Profile));
    free_all(blocks);
}

}  // namespace
}  // namespace ouro
