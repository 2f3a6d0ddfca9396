// No thread waits for another: one is stopped at random points of its work, as a scheduler or a debugger
// would, and the others go on allocating and freeing its blocks. No futex call is made while they do.
// Resources with locks show that the test would notice.
#include "paused_workers.hpp"

#include <ouro/memory/partition_allocator.hpp>
#include <ouro/memory/pool_allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using ouro::Expected;
using ouro::MemoryBlock;
using ouro::MemoryResource;
using ouro::Partition;
using ouro::PartitionAllocator;
using ouro::PartitionOptions;
using ouro::PoolAllocator;
using ouro::SmallObjectAllocator;
using ouro::testing_support::Outcome;
using ouro::testing_support::Pauses;

constexpr std::size_t kPlaces = 256;
// Where each of them may cost the others their patience.
constexpr int kFewPauses = 15;
constexpr std::size_t kAlignment = 16;

// What the child's threads share. A place holds a block of its own size, or null.
struct Shared {
    MemoryResource* heap = nullptr;
    std::array<std::atomic<std::byte*>, kPlaces> places = {};
};
Shared g_shared;

constexpr std::size_t size_of_place(std::size_t place) {
    return 16 + place * 24;
}

// Frees whatever lies in a place, whoever allocated it, and puts a new block there.
void work_on(std::size_t, std::uint32_t random) {
    const std::size_t place = random % kPlaces;
    std::byte* const old = g_shared.places[place].exchange(nullptr);
    if (old != nullptr) g_shared.heap->deallocate({old, size_of_place(place)}, kAlignment);
    const auto block = g_shared.heap->allocate(size_of_place(place), kAlignment);
    if (!block) return;
    std::byte* const mine = g_shared.places[place].exchange(block->data);
    if (mine != nullptr) g_shared.heap->deallocate({mine, size_of_place(place)}, kAlignment);
}

// Ends the child: the workers use the resource until the process is gone.
Outcome pause_again_and_again(MemoryResource& heap, int patience, const Pauses& pauses = {}) {
    g_shared.heap = &heap;
    return ouro::testing_support::pause_again_and_again(work_on, patience, pauses);
}

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

// Of the heap itself, or of a LockedHeap on it.
template <class Resource>
Outcome pause_on(int patience) {
    // Never ended, as the workers are not.
    static auto heap =
        SmallObjectAllocator::create({.max_bytes = std::size_t{256} << 20, .purge_threshold_bytes = 0});
    if (!heap) return Outcome::cannot_create;
    if constexpr (std::is_same_v<Resource, SmallObjectAllocator>) {
        return pause_again_and_again(*heap, patience);
    } else {
        static Resource locked(*heap);
        return pause_again_and_again(locked, patience);
    }
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
    return ouro::testing_support::pause_again_and_again(work_on_pools, patience);
}

// How the child ended, as waitpid tells.
template <class Resource>
int run_in_child(int patience) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(static_cast<int>(pause_on<Resource>(patience)));
    int state = 0;
    EXPECT_GT(child, 0);
    EXPECT_EQ(::waitpid(child, &state, 0), child);
    return state;
}

constexpr int kMuchPatience = 200'000;
// Enough where the others stand still for ever.
constexpr int kSomePatience = 3000;

TEST(PausedThread, StopsNobodyElseAndNoFutexIsCalled) {
    const int state = run_in_child<SmallObjectAllocator>(kMuchPatience);
    ASSERT_TRUE(WIFEXITED(state)) << "killed by signal " << WTERMSIG(state) << " (31: a futex call was made)";
    EXPECT_EQ(static_cast<Outcome>(WEXITSTATUS(state)), Outcome::everyone_went_on)
        << "5: the others stood still while one was paused";
}

TEST(PausedThread, StopsNobodyElseInTheSamePartition) {
    const int state = run_in_child<Partition>(kMuchPatience);
    ASSERT_TRUE(WIFEXITED(state)) << "killed by signal " << WTERMSIG(state) << " (31: a futex call was made)";
    EXPECT_EQ(static_cast<Outcome>(WEXITSTATUS(state)), Outcome::everyone_went_on)
        << "5: the others stood still while one was paused";
}

// Neither the owner of a pool those who free its blocks, nor they the owner.
TEST(PausedThread, StopsNobodyElseWithPoolsWhoseBlocksOthersFree) {
    const int state = run_in_child<PoolAllocator>(kMuchPatience);
    ASSERT_TRUE(WIFEXITED(state)) << "killed by signal " << WTERMSIG(state) << " (31: a futex call was made)";
    EXPECT_EQ(static_cast<Outcome>(WEXITSTATUS(state)), Outcome::everyone_went_on)
        << "5: the others stood still while one was paused";
}

// Also not while it has another's heap, to take what that one keeps.
TEST(PausedThread, StopsNobodyElseInAHeapThatIsFull) {
    const int state = run_in_child<FullHeap>(kMuchPatience);
    ASSERT_TRUE(WIFEXITED(state)) << "killed by signal " << WTERMSIG(state) << " (31: a futex call was made)";
    EXPECT_EQ(static_cast<Outcome>(WEXITSTATUS(state)), Outcome::everyone_went_on)
        << "5: the others stood still while one was paused";
}

TEST(PausedThread, AMutexIsFoundByItsFutexCall) {
    const int state = run_in_child<LockedHeap<std::mutex>>(kMuchPatience);
    ASSERT_TRUE(WIFSIGNALED(state)) << "ended with " << WEXITSTATUS(state);
    EXPECT_EQ(WTERMSIG(state), SIGSYS);
}

TEST(PausedThread, ASpinLockIsFoundByTheStandStill) {
    const int state = run_in_child<LockedHeap<SpinLock>>(kSomePatience);
    ASSERT_TRUE(WIFEXITED(state)) << "killed by signal " << WTERMSIG(state);
    EXPECT_EQ(static_cast<Outcome>(WEXITSTATUS(state)), Outcome::others_stood_still);
}

}  // namespace
