// A child has only the thread that forked; what the others held must not be held for ever.
#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/guarded_allocator.hpp>
#include <ouro/memory/observer.hpp>
#include <ouro/memory/partition_allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/memory/tag.hpp>
#include <ouro/memory/tagged_allocator.hpp>
#include <ouro/os/thread.hpp>

#include <atomic>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using ouro::MemoryBlock;
using ouro::SmallObjectAllocator;
using ouro::Status;

constexpr std::size_t kBytes = std::size_t{32} << 20;
// A child that hangs is ended by the alarm. Far more than any needs: a busy machine makes all of them slow.
constexpr unsigned kChildSeconds = 200;

// Runs the callable in a child and returns how that ended, as waitpid tells: zero is all well.
template <class Callable>
int run_in_child(Callable callable) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(kChildSeconds);
        ::_exit(callable());
    }
    int state = 0;
    EXPECT_GT(child, 0);
    EXPECT_EQ(::waitpid(child, &state, 0), child);
    return state;
}

// Whatever list they were in, or about to be in, when the process forked.
TEST(Fork, SlabsOfEndedAndMissingThreadsServeTheChild) {
    auto heap = *SmallObjectAllocator::create({.max_bytes = kBytes});
    heap.deallocate(*heap.allocate(100));
    for (int ended = 0; ended < 2; ++ended) {
        std::atomic<bool> has_block = false;
        std::atomic<bool> may_end = ended == 1;
        std::thread other([&] {
            static_cast<void>(heap.allocate(64));
            has_block.store(true);
            while (!may_end.load())
                ouro::os::yield_thread();
        });
        while (!has_block.load())
            ouro::os::yield_thread();
        if (ended == 1) other.join();
        const int state = run_in_child([&] {
            const std::size_t before = heap.stats().peak_bytes;
            for (int index = 0; index < 900; ++index)
                if (!heap.allocate(64)) return 1;
            return heap.stats().peak_bytes == before ? 0 : 2;
        });
        EXPECT_EQ(state, 0) << "ended: " << ended;
        may_end.store(true);
        if (other.joinable()) other.join();
    }
}

TEST(Fork, HeapsOfMissingThreadsAreOrphansInTheChild) {
    auto heap = *SmallObjectAllocator::create({.max_bytes = kBytes});
    std::atomic<bool> has_heap = false;
    std::atomic<bool> may_end = false;
    std::thread other([&] {
        heap.deallocate(*heap.allocate(100));
        has_heap.store(true);
        while (!may_end.load())
            ouro::os::yield_thread();
    });
    while (!has_heap.load())
        ouro::os::yield_thread();
    const MemoryBlock mine = *heap.allocate(100);
    EXPECT_EQ(heap.counts().orphans, 0U);
    const int state = run_in_child([&] {
        if (heap.counts().heaps != 2 || heap.counts().orphans != 1) return 1;
        heap.deallocate(mine);
        if (heap.purge().skipped_heaps != 0 || heap.counts().cached_bytes != 0) return 2;
        return heap.check() == Status::ok ? 0 : 3;
    });
    EXPECT_EQ(state, 0);
    EXPECT_EQ(heap.counts().orphans, 0U);
    may_end.store(true);
    other.join();
    EXPECT_EQ(heap.counts().orphans, 1U);
}

// Wherever the others are, in a large block's life or in a slab's: the child's heap is sound, and nothing
// that was being taken or returned is lost.
void check_heaps_of_children(std::size_t least_bytes, std::size_t most_bytes, std::size_t kept,
                             std::size_t heap_bytes = kBytes) {
    constexpr int kForks = 100;
    auto heap = *SmallObjectAllocator::create({.max_bytes = heap_bytes});
    std::atomic<bool> is_over = false;
    std::atomic<int> at_work = 0;
    const auto churn = [&] {
        std::vector<MemoryBlock> blocks;
        at_work.fetch_add(1);
        for (std::size_t size = least_bytes; !is_over.load();) {
            if (const auto block = heap.allocate(size)) blocks.push_back(*block);
            if (blocks.size() >= kept) {
                for (const MemoryBlock block : blocks)
                    heap.deallocate(block);
                blocks.clear();
            }
            size = size < most_bytes ? size + (most_bytes - least_bytes) / 7 : least_bytes;
        }
        for (const MemoryBlock block : blocks)
            heap.deallocate(block);
    };
    std::thread first(churn);
    std::thread second(churn);
    while (at_work.load() != 2)
        ouro::os::yield_thread();
    int unsound = 0;
    for (int fork = 0; fork < kForks; ++fork) {
        const int state = run_in_child([&] {
            if (heap.check() != Status::ok) return 1;
            const auto block = heap.allocate(most_bytes);
            if (!block) return 2;
            heap.deallocate(*block);
            return heap.check() == Status::ok ? 0 : 3;
        });
        unsound += state == 0 ? 0 : 1;
    }
    EXPECT_EQ(unsound, 0) << "of " << kForks;
    is_over.store(true);
    first.join();
    second.join();
    EXPECT_EQ(heap.check(), Status::ok);
}

TEST(Fork, AHeapIsSoundInTheChildWhileOthersTakeLargeBlocks) {
    check_heaps_of_children(300'000, 600'000, 1);
}

// Threads of a heap with so much room keep what they free.
TEST(Fork, AHeapIsSoundInTheChildWhileOthersKeepLargeBlocks) {
    check_heaps_of_children(70'000, 900'000, 11, std::size_t{1} << 30);
}

TEST(Fork, AHeapIsSoundInTheChildWhileOthersTakeSlabs) {
    check_heaps_of_children(16'000, 60'000, 50);
}

// Threads begin and end, heaps, tags and entries come and go: everything that takes a lock of the process.
TEST(Fork, NoLockStaysHeldInTheChild) {
    constexpr int kForks = 150;
    auto heap = *SmallObjectAllocator::create({.max_bytes = kBytes});
    std::atomic<bool> is_over = false;
    const auto churn = [&] {
        while (!is_over.load()) {
            std::thread([&] {
                std::vector<MemoryBlock> blocks;
                for (std::size_t size = 16; size < 3000; size += 7)
                    if (const auto block = heap.allocate(size)) blocks.push_back(*block);
                for (const MemoryBlock block : blocks)
                    heap.deallocate(block);
                heap.purge();
                for (int round = 0; round < 100; ++round) {
                    const ouro::BlockRegistration entry({.name = "entry"});
                    static_cast<void>(ouro::register_tag("fork"));
                }
            }).join();
        }
    };
    std::thread first(churn);
    std::thread second(churn);
    for (int fork = 0; fork < kForks; ++fork) {
        const int state = run_in_child([&] {
            auto other = SmallObjectAllocator::create({.max_bytes = kBytes});
            if (!other || !other->allocate(10) || !heap.allocate(10)) return 1;
            return ouro::register_tag("fork") ? 0 : 2;
        });
        ASSERT_EQ(state, 0) << "fork " << fork;
    }
    is_over.store(true);
    first.join();
    second.join();
}

// Keeps whoever allocates inside.
struct SlowObserver final : ouro::MemoryObserver {
    void on_allocate(const ouro::MemoryEvent&) noexcept override {
        is_inside.store(true);
        while (!may_leave.load())
            ouro::os::yield_thread();
    }
    std::atomic<bool> is_inside = false;
    std::atomic<bool> may_leave = false;
};

TEST(Fork, AnObserverCanBeRemovedInTheChildWhoeverWasInside) {
    auto heap = *SmallObjectAllocator::create({.max_bytes = kBytes});
    ouro::TaggedAllocator tagged(heap, {.name = "observed"});
    SlowObserver observer;
    ASSERT_TRUE(ouro::add_observer(observer));
    std::thread other([&] { tagged.deallocate(*tagged.allocate(100)); });
    while (!observer.is_inside.load())
        ouro::os::yield_thread();
    EXPECT_EQ(run_in_child([&] { return ouro::remove_observer(observer) ? 0 : 1; }), 0);
    observer.may_leave.store(true);
    other.join();
    EXPECT_TRUE(ouro::remove_observer(observer));
}

// Others are inside a resource, at any moment: the child takes from it and gives back.
void use_in_children_beside_others(ouro::MemoryResource& resource) {
    constexpr std::size_t kBlockBytes = 5000;
    constexpr int kChildren = 60;
    std::atomic<bool> is_done = false;
    std::vector<std::thread> others;
    for (int index = 0; index < 2; ++index)
        others.emplace_back([&] {
            while (!is_done.load())
                if (const auto block = resource.allocate(kBlockBytes)) resource.deallocate(*block);
        });
    for (int child = 0; child < kChildren; ++child) {
        const int state = run_in_child([&] {
            for (int count = 0; count < 5; ++count) {
                const auto block = resource.allocate(kBlockBytes);
                if (!block) return 1;
                resource.deallocate(*block);
            }
            return 0;
        });
        EXPECT_EQ(state, 0);
        if (state != 0) break;
    }
    is_done.store(true);
    for (std::thread& other : others)
        other.join();
}

TEST(Fork, ASystemAllocatorIsFreeInTheChild) {
    auto system = *ouro::SystemAllocator::create({});
    use_in_children_beside_others(system);
}

TEST(Fork, AGuardedAllocatorIsFreeInTheChild) {
    auto heap = *SmallObjectAllocator::create({.max_bytes = kBytes});
    auto checked = *ouro::GuardedAllocator<ouro::HardeningTier::checked>::create_on(heap, {});
    use_in_children_beside_others(checked);
}

TEST(Fork, AGuardedPartitionForAnyThreadIsFreeInTheChild) {
    for (const auto guards : {ouro::PartitionGuards::spans, ouro::PartitionGuards::blocks}) {
        const ouro::PartitionOptions parts[] = {
            {.max_bytes = kBytes, .guards = guards, .thread_safety = ouro::ThreadSafety::any_thread}};
        auto set = *ouro::PartitionAllocator::create({.partitions = parts});
        use_in_children_beside_others(set[0]);
        EXPECT_EQ(set[0].check(), Status::ok);
    }
}

}  // namespace
