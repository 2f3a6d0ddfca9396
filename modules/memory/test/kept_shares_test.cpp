// What all threads together may keep of the large blocks that they freed, and the share of each.
#include "damage.hpp"

#include <ouro/memory/detail/heap_core.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/os/process_barrier.hpp>
#include <ouro/os/thread.hpp>

#include <cstddef>
#include <latch>
#include <thread>
#include <vector>

namespace ouro::testing_support {

OURO_OPEN_MEMBER(SharedCore, &SmallObjectAllocator::core_);
OURO_OPEN_MEMBER(SharedHeaps, &detail::HeapCore::heaps_);
OURO_OPEN_MEMBER(SharedSequence, &detail::ThreadHeap::sequence_);
OURO_OPEN_MEMBER(SharedUnpromised, &detail::HeapCore::unpromised_units_);

namespace {

using detail::KeptRuns;

constexpr std::size_t kUnit = detail::UnitMap::kUnitBytes;
constexpr std::size_t kRoomy = std::size_t{1} << 30;

// A heap in which other threads may keep all but so many of the units that threads may keep together.
class SharedKeptBlocks : public testing::Test {
protected:
    static constexpr std::size_t kShares = 4;

    void make_heap(std::size_t threshold_units) {
        heap_ = SmallObjectAllocator::create(
            {.max_bytes = kRoomy, .purge_threshold_bytes = threshold_units * kUnit});
        ASSERT_TRUE(heap_);
    }
    MemoryBlock take(std::size_t units) {
        const auto block = heap_->allocate(units * kUnit);
        EXPECT_TRUE(block);
        return block ? *block : MemoryBlock{};
    }
    detail::HeapCore& core() { return *open<SharedCore>(*heap_); }
    detail::ThreadHeap* first_heap() { return open<SharedHeaps>(core()).load(); }

    void let_others_keep_all_but(std::size_t units) {
        make_heap(kShares * KeptRuns::kFirstUnits + units);
        std::latch have_kept(kShares);
        for (std::size_t index = 0; index < kShares; ++index)
            threads_.emplace_back([&] {
                heap_->deallocate(take(2));
                have_kept.count_down();
                may_end_.wait();
            });
        have_kept.wait();
        ASSERT_EQ(unpromised_units(), units);
    }
    void end_others() {
        may_end_.count_down();
        for (std::thread& thread : threads_)
            thread.join();
    }
    std::size_t unpromised_units() { return open<SharedUnpromised>(core()).load(); }

    Expected<SmallObjectAllocator> heap_ = Status::bad_argument;
    std::latch may_end_{1};
    std::vector<std::thread> threads_;
};

// As much as may stay free at all, however many threads there are.
TEST_F(SharedKeptBlocks, AllThreadsTogetherKeepSoMuch) {
    constexpr std::size_t kThresholdUnits = 128;
    constexpr int kThreads = 8;
    make_heap(kThresholdUnits);
    std::latch have_freed(kThreads);
    std::latch are_counted(1);
    std::vector<std::thread> threads;
    for (int index = 0; index < kThreads; ++index)
        threads.emplace_back([&] {
            heap_->deallocate(take(core().most_kept_units()));
            have_freed.count_down();
            are_counted.wait();
        });
    have_freed.wait();
    std::size_t kept = 0;
    std::size_t heaps = 0;
    for (auto* heap = first_heap(); heap != nullptr; heap = heap->next_heap, ++heaps)
        kept += heap->kept_units();
    are_counted.count_down();
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(heaps, std::size_t{kThreads});
    EXPECT_EQ(kept, kThresholdUnits);
    EXPECT_EQ(heap_->check(), Status::ok);
    // What a reset forgets is nobody's any more.
    heap_->reset();
    heap_->deallocate(take(core().most_kept_units()));
    EXPECT_EQ(first_heap()->kept_units(), core().most_kept_units());
}

TEST_F(SharedKeptBlocks, WhatThreadsThatEndCouldKeepOthersMay) {
    let_others_keep_all_but(0);
    heap_->deallocate(take(3));
    EXPECT_EQ(heap_->counts().cached_bytes, kShares * 2 * kUnit);
    EXPECT_EQ(heap_->check(), Status::ok);
    end_others();
    EXPECT_EQ(unpromised_units(), kShares * KeptRuns::kFirstUnits);
    heap_->deallocate(take(3));
    EXPECT_EQ(heap_->counts().cached_bytes, 3 * kUnit);
    EXPECT_EQ(heap_->check(), Status::ok);
}

TEST_F(SharedKeptBlocks, ABlockAboveAShareDrivesNothingOut) {
    let_others_keep_all_but(8);
    const MemoryBlock small = take(3);
    const MemoryBlock large = take(9);
    heap_->deallocate(small);
    const std::size_t kept_bytes = heap_->counts().cached_bytes;
    heap_->deallocate(large);
    EXPECT_EQ(heap_->counts().cached_bytes, kept_bytes);
    EXPECT_EQ(heap_->check(), Status::ok);
    end_others();
}

// As a fork's child finds them.
TEST_F(SharedKeptBlocks, WhatLostThreadsCouldKeepOthersMay) {
    let_others_keep_all_but(0);
    auto* const lost = first_heap();
    open<SharedSequence>(*lost).fetch_add(1);
    core().abandon_heaps_except(os::this_thread_id());
    EXPECT_TRUE(lost->is_lost());
    EXPECT_EQ(unpromised_units(), KeptRuns::kFirstUnits);
    EXPECT_EQ(heap_->check(), Status::ok);
    end_others();
    EXPECT_EQ(heap_->check(), Status::ok);
}

// Out of the list, and not among the free units yet.
TEST_F(SharedKeptBlocks, WhatALostThreadWasGivingUpIsFree) {
    make_heap(kShares * KeptRuns::kFirstUnits);
    heap_->deallocate(take(8));
    EXPECT_EQ(first_heap()->give_up_run(8).units, 8U);
    EXPECT_EQ(core().taken_bytes(), 8 * kUnit);
    core().abandon_heaps_except(os::this_thread_id());
    EXPECT_EQ(core().taken_bytes(), 0U);
    EXPECT_EQ(heap_->check(), Status::ok);
}

// Somebody else empties the list meanwhile.
TEST_F(SharedKeptBlocks, ARevokedListIsLeftAlone) {
    if (!os::process_barrier_available()) GTEST_SKIP() << "needs process_barrier";
    make_heap(kShares * KeptRuns::kFirstUnits);
    const MemoryBlock other = take(3);
    const MemoryBlock block = take(8);
    heap_->deallocate(take(8));
    auto* const heap = first_heap();
    const std::size_t kept = heap->kept_units();
    ASSERT_TRUE(heap->try_revoke());
    EXPECT_EQ(heap->take_run(8), detail::UnitMap::kNoUnit);
    EXPECT_EQ(heap->give_up_run(1).units, 0U);
    const std::size_t behind = core().units().unit_of(block.end());
    EXPECT_EQ(heap->kept_units_at(behind, 8), 0U);
    EXPECT_FALSE(heap->take_run_at(behind, 8));
    heap_->deallocate(other);
    EXPECT_EQ(heap->kept_units(), kept);
    heap->restore();
    EXPECT_EQ(heap->kept_units_at(behind, 8), 8U);
    EXPECT_EQ(take(8).data, block.end());
    heap_->deallocate(block);
    EXPECT_EQ(heap_->check(), Status::ok);
}

}  // namespace
}  // namespace ouro::testing_support
