#include "fresh_tags.hpp"
#include "profile_support.hpp"
#include "workers.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/detail/word_lock.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/observe/charged_allocator.hpp>
#include <ouro/observe/exports.hpp>
#include <ouro/observe/timeline.hpp>
#include <ouro/os/process_barrier.hpp>

#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using test::expect_near_truth;
using test::fresh_tag;
using test::KnownAmount;
using test::Profiling;
using test::sum_of_sites;
using testing_support::run_workers;

constexpr std::size_t kThreads = 4;
constexpr std::uint64_t kSeed = 1'611;

// Blocks that one thread leaves for another.
class Exchange {
public:
    MemoryBlock swap(MemoryBlock block, std::uint32_t at) {
        const detail::WordLockScope scope(lock_);
        std::swap(block, blocks_[at % blocks_.size()]);
        return block;
    }
    template <class Visit>
    void visit(Visit&& visit) {
        for (MemoryBlock& block : blocks_)
            visit(block);
    }

private:
    detail::WordLock lock_;
    std::array<MemoryBlock, 64> blocks_{};
};

class ProfilerConcurrentTest : public testing::Test {
protected:
    Tag tag_ = fresh_tag();
    SmallObjectAllocator heap_ = *SmallObjectAllocator::create({});
    ChargedAllocator<SmallObjectAllocator> memory_{heap_, tag_};
};

TEST_F(ProfilerConcurrentTest, EstimatesHoldForAllThreadsTogether) {
    SCOPED_TRACE(kSeed);
    constexpr std::size_t kMean = 5'000;
    const Profiling profiling({.mean_bytes = kMean, .seed = kSeed});
    std::array<std::vector<MemoryBlock>, kThreads> blocks;
    std::array<KnownAmount, kThreads> known;
    run_workers(kThreads, [&](std::size_t worker) {
        Random random(kSeed, worker);
        for (int i = 0; i < 3'000; ++i) {
            const std::size_t size = 1 + random.below(2'000);
            blocks[worker].push_back(*memory_.allocate(size));
            known[worker].add(static_cast<double>(size), kMean);
        }
    });
    KnownAmount truth;
    for (const KnownAmount& one : known) {
        truth.bytes += one.bytes;
        truth.blocks += one.blocks;
        truth.byte_variance += one.byte_variance;
        truth.block_variance += one.block_variance;
    }
    expect_near_truth(sum_of_sites(tag_).live, truth);
    // Freed by others than those who allocated.
    run_workers(kThreads, [&](std::size_t worker) {
        for (const MemoryBlock block : blocks[(worker + 1) % kThreads])
            memory_.deallocate(block);
    });
    EXPECT_EQ(sum_of_sites(tag_).live.bytes, 0U);
    EXPECT_EQ(sum_of_sites(tag_).live.blocks, 0U);
    EXPECT_EQ(profiler_state().live.bytes, 0U);
}

TEST_F(ProfilerConcurrentTest, OfOthersNothingIsTemporary) {
    const Profiling profiling({.mean_bytes = 1, .temporary_bytes = ~std::size_t{0} / 4, .seed = kSeed});
    const auto block = memory_.allocate(100);
    ASSERT_TRUE(block);
    run_workers(1, [&](std::size_t) {
        memory_.deallocate(*memory_.allocate(50));
        memory_.deallocate(*block);
    });
    // Where threads share a count, they are one.
    EXPECT_EQ(sum_of_sites(tag_).temporary.bytes, os::process_barrier_available() ? 50U : 150U);
    EXPECT_EQ(sum_of_sites(tag_).live.blocks, 0U);
}

// Started, changed, read and stopped beside threads that allocate, resize, and free what others allocated.
TEST_F(ProfilerConcurrentTest, EverythingAtOnceHarmsNothing) {
    SCOPED_TRACE(kSeed);
    Exchange exchange;
    std::atomic<std::size_t> running{kThreads};
    run_workers(kThreads + 1, [&](std::size_t worker) {
        Random random(kSeed, worker);
        if (worker == kThreads) {
            std::array<SiteProfile, 8> sites;
            std::size_t written = 0;
            const ByteSink sink{[](void* count, std::string_view bytes) {
                                    *static_cast<std::size_t*>(count) += bytes.size();
                                },
                                &written};
            while (running.load() != 0) {
                EXPECT_TRUE(start_profiler({.mean_bytes = 200, .seed = kSeed}));
                look_at_timeline();
                EXPECT_TRUE(set_profiler_mean(1 + random.below(300)));
                static_cast<void>(top_sites(SiteOrder::live, sites));
                mark_growth();
                write_folded_stacks(sink);
                write_pprof(sink);
                write_chrome_trace(sink);
                stop_profiler();
            }
            EXPECT_GT(written, 0U);
            return;
        }
        for (int i = 0; i < 20'000; ++i) {
            MemoryBlock block = exchange.swap({}, random.below(64));
            if (block.is_null()) {
                block = *memory_.allocate(1 + random.below(500));
            } else if (random.below(2) == 0) {
                block = *memory_.reallocate(block, 1 + random.below(500));
            }
            const MemoryBlock old = exchange.swap(block, random.below(64));
            memory_.deallocate(old);
        }
        running.fetch_sub(1);
    });
    // Begins with nothing, whatever was left.
    const Profiling profiling({.mean_bytes = 1, .seed = kSeed});
    exchange.visit([&](MemoryBlock& block) { memory_.deallocate(block); });
    EXPECT_EQ(profiler_state().live.bytes, 0U);
    EXPECT_EQ(heap_.stats().live_blocks, 0U);
}

// A thread in the middle of a long countdown notices the start with its next allocation.
TEST_F(ProfilerConcurrentTest, RunningThreadsNoticeTheStart) {
    constexpr int kBlocks = 200;
    std::atomic<std::size_t> ready{0};
    std::atomic<bool> has_started{false};
    run_workers(kThreads + 1, [&](std::size_t worker) {
        if (worker == kThreads) {
            while (ready.load() != kThreads)
                os::yield_thread();
            EXPECT_TRUE(start_profiler({.mean_bytes = 1, .seed = kSeed}));
            has_started = true;
            return;
        }
        memory_.deallocate(*memory_.allocate(10));
        ready.fetch_add(1);
        while (!has_started)
            os::yield_thread();
        for (int i = 0; i < kBlocks; ++i)
            memory_.deallocate(*memory_.allocate(100));
    });
    EXPECT_EQ(sum_of_sites(tag_).samples, kThreads * kBlocks);
    stop_profiler();
}

}  // namespace
}  // namespace ouro
