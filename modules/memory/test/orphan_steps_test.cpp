// Heaps of threads that have ended, one step at a time: what those who come in between do not find is found
// afterwards.
#include "damage.hpp"

#include <ouro/memory/detail/heap_core.hpp>
#include <ouro/memory/detail/live_heaps.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/os/process_barrier.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/os/thread_exit.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace ouro::testing_support {

OURO_OPEN_MEMBER(OrphanCore, &SmallObjectAllocator::core_);
OURO_OPEN_MEMBER(OrphanHeaps, &detail::HeapCore::heaps_);
OURO_OPEN_MEMBER(OrphanTryHold, &detail::HeapCore::try_hold);
OURO_OPEN_MEMBER(OrphanLetGo, &detail::HeapCore::let_go);

namespace {

using detail::HeapCore;
using detail::ThreadHeap;

constexpr std::size_t kBytes = 64;
constexpr unsigned kClass = detail::class_for(kBytes, 1);

template <class Callable>
void run_in_thread(Callable callable) {
    auto thread = os::Thread::start([](void* argument) { (*static_cast<Callable*>(argument))(); }, &callable);
    ASSERT_TRUE(thread);
    thread->join();
}

class OrphanSteps : public testing::Test {
protected:
    void SetUp() override {
        heap_.deallocate(*heap_.allocate(1000));
        mine_ = newest();
        run_in_thread([this] { block_ = *heap_.allocate(kBytes); });
        orphan_ = newest();
        ASSERT_NE(orphan_, mine_);
        ASSERT_EQ(orphan_->state.load(), ThreadHeap::State::orphan);
    }
    HeapCore& core() { return *open<OrphanCore>(heap_); }
    ThreadHeap* newest() { return open<OrphanHeaps>(core()).load(); }
    [[nodiscard]] bool try_hold() { return (core().*member_of(OrphanTryHold{}))(*orphan_); }
    void let_go(ThreadHeap::Remains remains) { (core().*member_of(OrphanLetGo{}))(*orphan_, remains); }
    [[nodiscard]] ThreadHeap* heap_of_next_thread() {
        ThreadHeap* heap = nullptr;
        run_in_thread([&] { heap = *core().heap_of_this_thread(HeapCore::Search::none); });
        return heap;
    }
    [[nodiscard]] std::uint64_t visits_of_next_look() {
        const std::uint64_t before = heap_.counts().orphan_visits;
        core().adopt_slabs(kClass, *mine_);
        return heap_.counts().orphan_visits - before;
    }

    SmallObjectAllocator heap_ = *SmallObjectAllocator::create({.max_bytes = std::size_t{64} << 20});
    ThreadHeap* mine_ = nullptr;
    ThreadHeap* orphan_ = nullptr;
    MemoryBlock block_;
};

TEST_F(OrphanSteps, WhatComesHomeWhileSomebodyHoldsItIsLookedForAfterwards) {
    ASSERT_TRUE(try_hold());
    core().send_home(kClass, block_.data);
    // Listed for it, and taken out in vain.
    EXPECT_EQ(visits_of_next_look(), 0U);
    let_go({.was_entered = true, .classes = 0});
    // Its slab is empty then, and goes back to the units.
    EXPECT_EQ(visits_of_next_look(), 1U);
    EXPECT_EQ(heap_.stats().live_blocks, 0U);
    EXPECT_EQ(heap_.check(), Status::ok);
}

TEST_F(OrphanSteps, ThreadsThatBeginWhileSomebodyHoldsItLeaveItToTheNext) {
    ASSERT_TRUE(try_hold());
    EXPECT_NE(heap_of_next_thread(), orphan_);
    let_go({.was_entered = true, .classes = 0});
    EXPECT_EQ(heap_of_next_thread(), orphan_);
}

// Whoever revokes it asked before its thread had ended.
TEST_F(OrphanSteps, OneThatWasRevokedIsLookedForWhenItIsRestored) {
    if (!os::process_barrier_available()) GTEST_SKIP() << "needs process_barrier";
    ASSERT_TRUE(orphan_->try_revoke());
    EXPECT_EQ(visits_of_next_look(), 1U);
    EXPECT_EQ(visits_of_next_look(), 0U);
    orphan_->restore();
    EXPECT_EQ(visits_of_next_look(), 2U);
}

// Of a thread that was about to list it only the mark of that is left.
TEST_F(OrphanSteps, TheChildOfAForkFindsThemWhereverTheyStood) {
    ASSERT_TRUE(try_hold());
    EXPECT_EQ(visits_of_next_look(), 0U);
    ThreadHeap* const other = heap_of_next_thread();
    ASSERT_NE(other, orphan_);
    orphan_->state.store(ThreadHeap::State::orphan);
    orphan_->orphan_places.listed.store(~std::uint64_t{0});
    orphan_->orphan_places.is_stacked.store(true);
    core().abandon_heaps_except(os::this_thread_id());
    // The other has no slab.
    EXPECT_EQ(visits_of_next_look(), 3U);
    const std::set<ThreadHeap*> adopted = {heap_of_next_thread(), heap_of_next_thread()};
    EXPECT_EQ(adopted, (std::set<ThreadHeap*>{orphan_, other}));
}

// Of a thread that was about to adopt it only the state is left.
TEST_F(OrphanSteps, TheChildOfAForkCountsThemOnce) {
    orphan_->state.store(ThreadHeap::State::owned);
    core().abandon_heaps_except(os::this_thread_id());
    EXPECT_EQ(heap_.counts().orphans, 1U);
    EXPECT_EQ(heap_of_next_thread(), orphan_);
}

TEST_F(OrphanSteps, HeapsThatThreadsDidNotLeaveAreLookedForOnceThereMayBeSome) {
    EXPECT_EQ(*core().heap_of_this_thread(), mine_);
    EXPECT_EQ(*core().heap_of_this_thread(HeapCore::Search::none), orphan_);
    core().expect_left_heaps();
    orphan_->thread_id.store(0);
    EXPECT_EQ(*core().heap_of_this_thread(HeapCore::Search::none), mine_);
}

// Threads with one number whose hooks never run, though they were accepted.
TEST_F(OrphanSteps, NoMoreHeapsAreLeftBehindThanUntilSomebodyNoticed) {
    constexpr std::size_t kThreads = 140;
    for (std::size_t thread = 0; thread < kThreads; ++thread)
        ASSERT_TRUE(core().heap_of_this_thread(HeapCore::Search::none));
    EXPECT_TRUE(core().may_be_left());
    EXPECT_LT(heap_.counts().heaps, kThreads / 2);
    // This thread ends, as all of them.
    core().abandon_heaps_of(os::this_thread_id());
    EXPECT_EQ(heap_.counts().orphans, heap_.counts().heaps);
    detail::forget_heap(core().id());
}

// A heap that another copy of the library has made: it is not among the live ones of this, and that copy's
// hook comes after the one here. The notes are one for both.
HeapCore* g_other_copys = nullptr;
bool g_is_note_of_other_lost = false;

void leave_other_copys_heap(void*) {
    g_is_note_of_other_lost = detail::is_note_lost(g_other_copys->id());
    if (ThreadHeap* const heap = detail::noted_heap(g_other_copys->id()))
        g_other_copys->abandon_heap(*heap, os::this_thread_id());
}

TEST_F(OrphanSteps, OtherCopiesOfTheLibraryFindTheirNotes) {
    auto other = *SmallObjectAllocator::create({.max_bytes = std::size_t{1} << 20});
    g_other_copys = open<OrphanCore>(other);
    detail::remove_live_core(*g_other_copys);
    const auto key = os::make_thread_exit_key(leave_other_copys_heap);
    ASSERT_TRUE(key);
    for (const bool is_lost : {false, true}) {
        run_in_thread([&] {
            heap_.deallocate(*heap_.allocate(kBytes));
            other.deallocate(*other.allocate(kBytes));
            if (is_lost) detail::t_lost_notes = ~std::uint64_t{0};
            EXPECT_TRUE(os::set_thread_exit_value(*key, this));
        });
        EXPECT_EQ(g_is_note_of_other_lost, is_lost);
        EXPECT_EQ(heap_.counts().orphans, 1U);
        EXPECT_EQ(other.counts().heaps, 1U);
        EXPECT_EQ(other.counts().orphans, 1U);
    }
    ASSERT_TRUE(detail::add_live_core(*g_other_copys));
}

// More than it has notes for.
TEST(OrphansOfManyHeaps, AThreadLeavesItsPartOfEach) {
    std::vector<SmallObjectAllocator> heaps;
    while (heaps.size() < detail::kHeapNotes + 6)
        heaps.push_back(*SmallObjectAllocator::create({.max_bytes = std::size_t{1} << 20}));
    run_in_thread([&] {
        for (int turn = 0; turn < 3; ++turn)
            for (auto& heap : heaps)
                heap.deallocate(*heap.allocate(kBytes));
    });
    for (auto& heap : heaps) {
        EXPECT_EQ(heap.counts().heaps, 1U);
        EXPECT_EQ(heap.counts().orphans, 1U);
        EXPECT_EQ(heap.counts().cached_bytes, 0U);
    }
}

}  // namespace
}  // namespace ouro::testing_support
