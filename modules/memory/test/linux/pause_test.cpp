// No thread waits for another: one is stopped at random points of its work, as a scheduler or a debugger
// would, and the others go on allocating and freeing its blocks. No futex call is made while they do.
// Resources with locks show that the test would notice.
#include "paused_resource.hpp"

#include <ouro/memory/partition_allocator.hpp>
#include <ouro/memory/pool_allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/tagged_allocator.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

namespace {

using ouro::Expected;
using ouro::MemoryBlock;
using ouro::MemoryResource;
using ouro::Partition;
using ouro::PartitionAllocator;
using ouro::PartitionOptions;
using ouro::PoolAllocator;
using ouro::SmallObjectAllocator;
using ouro::TaggedAllocator;
using ouro::testing_support::expect_that_everyone_went_on;
using ouro::testing_support::g_shared;
using ouro::testing_support::kMuchPatience;
using ouro::testing_support::kPlaces;
using ouro::testing_support::kSomePatience;
using ouro::testing_support::Outcome;
using ouro::testing_support::pause_again_and_again;
using ouro::testing_support::Pauses;
using ouro::testing_support::run_in_child;

// Where each of them may cost the others their patience.
constexpr int kFewPauses = 15;
// A heap in a region that is never large enough: whoever finds it full takes what the others keep.
struct FullHeap {
    static constexpr std::size_t kBytes = std::size_t{1} << 20;
};

// The same heap behind a lock of any kind: what must not be.
template <class Lock>
class LockedHeap final : public MemoryResource {
public:
    explicit LockedHeap(SmallObjectAllocator& heap) : heap_(heap) {}
    Expected<MemoryBlock> allocate(std::size_t size, std::size_t alignment) noexcept override {
        const std::lock_guard guard(lock_);
        return heap_.allocate(size, alignment);
    }
    void deallocate(MemoryBlock block, std::size_t alignment) noexcept override {
        const std::lock_guard guard(lock_);
        heap_.deallocate(block, alignment);
    }
    Expected<MemoryBlock> reallocate(MemoryBlock block, std::size_t new_size,
                                     std::size_t alignment) noexcept override {
        const std::lock_guard guard(lock_);
        return heap_.reallocate(block, new_size, alignment);
    }
    bool owns(const void* address) const noexcept override { return heap_.owns(address); }
    ouro::ResourceInfo info() const noexcept override { return heap_.info(); }
    ouro::ResourceStats stats() const noexcept override { return heap_.stats(); }
    ouro::Status check() const noexcept override { return heap_.check(); }

private:
    SmallObjectAllocator& heap_;
    Lock lock_;
};

// Waits without a system call that could give it away.
class SpinLock {
public:
    void lock() noexcept {
        while (is_taken_.exchange(true, std::memory_order_acquire)) {
        }
    }
    void unlock() noexcept { is_taken_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> is_taken_ = false;
};

// Never ended, as the workers are not.
Expected<SmallObjectAllocator>& heap_for_ever() {
    static auto heap =
        SmallObjectAllocator::create({.max_bytes = std::size_t{256} << 20, .purge_threshold_bytes = 0});
    return heap;
}

// Of the heap itself, or of a LockedHeap on it.
template <class Resource>
Outcome pause_on(int patience) {
    auto& heap = heap_for_ever();
    if (!heap) return Outcome::cannot_create;
    if constexpr (std::is_same_v<Resource, SmallObjectAllocator>) {
        return pause_again_and_again(*heap, patience);
    } else {
        static Resource locked(*heap);
        return pause_again_and_again(locked, patience);
    }
}

// A tag below another, both with a budget that has room: counts that all threads share, and none of them
// waits.
template <>
Outcome pause_on<TaggedAllocator>(int patience) {
    constexpr std::size_t kRoom = 4 * ouro::testing_support::size_of_all_places();
    auto& heap = heap_for_ever();
    if (!heap) return Outcome::cannot_create;
    static ouro::BasicTaggedAllocator<SmallObjectAllocator> parent(*heap, {.budget_bytes = kRoom});
    static TaggedAllocator tagged(parent, {.budget_bytes = kRoom});
    const Outcome outcome = pause_again_and_again(tagged, patience);
    return tagged.counts().failures == 0 && parent.counts().failures == 0 ? outcome : Outcome::call_failed;
}

template <>
Outcome pause_on<FullHeap>(int patience) {
    alignas(4096) static std::array<std::byte, FullHeap::kBytes> region;
    static auto heap = SmallObjectAllocator::create_in({region.data(), region.size()});
    // A step may take the bounded time for which one waits for a heap that another has.
    constexpr Pauses kFew{.count = kFewPauses, .steps = 50};
    return heap ? pause_again_and_again(*heap, patience, kFew) : Outcome::cannot_create;
}

template <>
Outcome pause_on<Partition>(int patience) {
    static constexpr PartitionOptions kPart{.max_bytes = std::size_t{256} << 20,
                                            .thread_safety = ouro::ThreadSafety::any_thread,
                                            .keep_empty_bytes = 0};
    static auto set = PartitionAllocator::create({.partitions = {&kPart, 1}});
    return set ? pause_again_and_again((*set)[0], patience) : Outcome::cannot_create;
}

// A pool belongs to one thread: each worker allocates from its own, and frees the blocks of all.
std::array<std::optional<PoolAllocator>, 3> g_pools;

void work_on_pools(std::size_t worker, std::uint32_t random) {
    // Ours from the first step on.
    if (!g_pools[worker]->is_owner()) g_pools[worker]->bind_to_this_thread();
    std::byte* const old = g_shared.places[random % kPlaces].exchange(nullptr);
    const auto give_back = [](std::byte* block) {
        for (auto& pool : g_pools)
            if (pool->owns(block)) return pool->deallocate_block(block);
    };
    if (old != nullptr) give_back(old);
    const auto block = g_pools[worker]->allocate_block();
    if (!block) return;
    std::byte* const mine = g_shared.places[random % kPlaces].exchange(block->data);
    if (mine != nullptr) give_back(mine);
}

template <>
Outcome pause_on<PoolAllocator>(int patience) {
    for (auto& pool : g_pools) {
        auto made = PoolAllocator::create({.block_bytes = 64, .max_blocks = 4 * kPlaces});
        if (!made) return Outcome::cannot_create;
        pool.emplace(*std::move(made));
    }
    return pause_again_and_again(work_on_pools, patience);
}

TEST(PausedThread, StopsNobodyElseAndNoFutexIsCalled) {
    expect_that_everyone_went_on(run_in_child([] { return pause_on<SmallObjectAllocator>(kMuchPatience); }));
}

TEST(PausedThread, StopsNobodyElseInTheSamePartition) {
    expect_that_everyone_went_on(run_in_child([] { return pause_on<Partition>(kMuchPatience); }));
}

TEST(PausedThread, StopsNobodyElseThroughTagsWithRoomInTheirBudgets) {
    expect_that_everyone_went_on(run_in_child([] { return pause_on<TaggedAllocator>(kMuchPatience); }));
}

// Neither the owner of a pool those who free its blocks, nor they the owner.
TEST(PausedThread, StopsNobodyElseWithPoolsWhoseBlocksOthersFree) {
    expect_that_everyone_went_on(run_in_child([] { return pause_on<PoolAllocator>(kMuchPatience); }));
}

// Also not while it has another's heap, to take what that one keeps.
TEST(PausedThread, StopsNobodyElseInAHeapThatIsFull) {
    expect_that_everyone_went_on(run_in_child([] { return pause_on<FullHeap>(kMuchPatience); }));
}

TEST(PausedThread, AMutexIsFoundByItsFutexCall) {
    const int state = run_in_child([] { return pause_on<LockedHeap<std::mutex>>(kMuchPatience); });
    ASSERT_TRUE(WIFSIGNALED(state)) << "ended with " << WEXITSTATUS(state);
    EXPECT_EQ(WTERMSIG(state), SIGSYS);
}

TEST(PausedThread, ASpinLockIsFoundByTheStandStill) {
    const int state = run_in_child([] { return pause_on<LockedHeap<SpinLock>>(kSomePatience); });
    ASSERT_TRUE(WIFEXITED(state)) << "killed by signal " << WTERMSIG(state);
    EXPECT_EQ(static_cast<Outcome>(WEXITSTATUS(state)), Outcome::others_stood_still);
}

}  // namespace
