// A heap for small objects that ends, or starts over, as a whole: on a thread that neither made nor used it,
// while the threads that did live on, with what they keep in mind of it, and use the next one.
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/os/thread.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::SmallObjectAllocator;
using ouro::Status;

constexpr std::size_t kUsers = 3;
constexpr std::size_t kBlocks = 200;
constexpr std::uint64_t kRounds = 120;
constexpr std::size_t kHeapBytes = std::size_t{16} << 20;

// Whose turn it is: everybody works in the rounds that are theirs and waits for the others between them.
class Turns {
public:
    void wait_for(std::uint64_t turn) const {
        while (turn_.load(std::memory_order_acquire) < turn)
            ouro::os::yield_thread();
    }
    // The last of so many goes on to the next turn.
    void finish(std::size_t members) {
        if (finished_.fetch_add(1, std::memory_order_acq_rel) + 1 != members) return;
        finished_.store(0, std::memory_order_relaxed);
        turn_.fetch_add(1, std::memory_order_acq_rel);
    }

private:
    std::atomic<std::uint64_t> turn_ = 0;
    std::atomic<std::size_t> finished_ = 0;
};

// A round has three turns: the users allocate, they free, the whole is ended.
struct Scene {
    std::optional<SmallObjectAllocator> heap;
    Turns turns;
    // By user; freed in part by the one after.
    std::array<std::array<MemoryBlock, kBlocks>, kUsers> blocks = {};
    std::atomic<int> failures = 0;
};

std::size_t size_of(std::size_t index) {
    return index % 50 == 49 ? 100'000 : 1 + index * 23 % 3000;
}

struct User {
    Scene* scene = nullptr;
    std::size_t number = 0;

    void operator()() {
        for (std::uint64_t round = 0; round < kRounds; ++round) {
            scene->turns.wait_for(round * 3);
            allocate(static_cast<unsigned char>(round + number));
            scene->turns.finish(kUsers);
            scene->turns.wait_for(round * 3 + 1);
            free_of_neighbour(static_cast<unsigned char>(round + (number + 1) % kUsers));
            scene->turns.finish(kUsers);
        }
        // The end of a thread uses its heaps once more.
        scene->turns.wait_for(kRounds * 3);
    }

    void allocate(unsigned char value) {
        for (std::size_t index = 0; index < kBlocks; ++index) {
            const auto block = scene->heap->allocate(size_of(index));
            if (!block) {
                scene->failures.fetch_add(1);
                continue;
            }
            std::memset(block->data, value, block->size);
            scene->blocks[number][index] = *block;
        }
    }

    // Half of the neighbour's, which lie in a cache of this thread then; the others stay live.
    void free_of_neighbour(unsigned char value) {
        for (std::size_t index = 0; index < kBlocks; index += 2) {
            const MemoryBlock block = scene->blocks[(number + 1) % kUsers][index];
            if (block.is_null()) continue;
            for (const std::byte byte : block.bytes())
                if (byte != std::byte{value}) return void(scene->failures.fetch_add(1));
            scene->heap->deallocate(block);
        }
    }
};

template <class StartOver>
struct Destroyer {
    Scene* scene = nullptr;
    StartOver start_over;

    void operator()() {
        for (std::uint64_t round = 0; round < kRounds; ++round) {
            scene->turns.wait_for(round * 3 + 2);
            if (scene->heap->stats().live_blocks != kUsers * kBlocks / 2) scene->failures.fetch_add(1);
            if (!start_over(scene->heap, round)) scene->failures.fetch_add(1);
            scene->turns.finish(1);
        }
    }
};

template <class Callable>
ouro::os::Thread start(Callable& callable) {
    return *ouro::os::Thread::start([](void* argument) { (*static_cast<Callable*>(argument))(); }, &callable);
}

// `start_over` ends what is in the heap, on a thread of its own, and says whether a heap is there again.
template <class StartOver>
void run_rounds_on(Scene& scene, StartOver start_over) {
    std::array<User, kUsers> users;
    std::array<ouro::os::Thread, kUsers> threads;
    Destroyer<StartOver> destroyer{&scene, start_over};
    for (std::size_t number = 0; number < kUsers; ++number) {
        users[number] = {&scene, number};
        threads[number] = start(users[number]);
    }
    auto last = start(destroyer);
    for (auto& thread : threads)
        thread.join();
    last.join();
    EXPECT_EQ(scene.failures.load(), 0);
    ASSERT_TRUE(scene.heap);
    EXPECT_EQ(scene.heap->stats().live_blocks, 0U);
    EXPECT_EQ(scene.heap->check(), Status::ok);
}

TEST(SmallObjectTeardown, AnotherThreadDestroysTheHeapAndItsUsersUseTheNext) {
    Scene scene;
    scene.heap.emplace(*SmallObjectAllocator::create({.max_bytes = kHeapBytes}));
    run_rounds_on(scene, [](std::optional<SmallObjectAllocator>& heap, std::uint64_t) {
        heap.reset();
        auto next = SmallObjectAllocator::create({.max_bytes = kHeapBytes});
        if (next) heap.emplace(*std::move(next));
        return heap.has_value();
    });
}

// At the same addresses, where a thread that mixed up the two would find the new one's blocks.
TEST(SmallObjectTeardown, TheNextHeapLiesWhereTheOtherLay) {
    auto system = ouro::SystemAllocator::create({});
    ASSERT_TRUE(system);
    const auto region = system->allocate(kHeapBytes);
    ASSERT_TRUE(region);
    Scene scene;
    scene.heap.emplace(*SmallObjectAllocator::create_in(*region));
    run_rounds_on(scene, [&](std::optional<SmallObjectAllocator>& heap, std::uint64_t) {
        heap.reset();
        auto next = SmallObjectAllocator::create_in(*region);
        if (next) heap.emplace(*std::move(next));
        return heap.has_value();
    });
    scene.heap.reset();
    system->deallocate(*region);
}

TEST(SmallObjectTeardown, AnotherThreadResetsTheHeapAndItsUsersGoOn) {
    Scene scene;
    scene.heap.emplace(*SmallObjectAllocator::create({.max_bytes = kHeapBytes}));
    run_rounds_on(scene, [](std::optional<SmallObjectAllocator>& heap, std::uint64_t) {
        heap->reset();
        return heap->stats().live_blocks == 0 && heap->check() == Status::ok;
    });
}

// What a thread does at its end with a heap that is gone, or another by now.
TEST(SmallObjectTeardown, ThreadsEndAfterTheHeapTheyUsed) {
    for (int round = 0; round < 200; ++round) {
        std::optional<SmallObjectAllocator> heap(*SmallObjectAllocator::create({.max_bytes = kHeapBytes}));
        std::atomic<bool> has_used = false;
        std::atomic<bool> is_gone = false;
        auto work = [&] {
            for (std::size_t index = 0; index < kBlocks; ++index)
                heap->deallocate(*heap->allocate(size_of(index)));
            has_used.store(true, std::memory_order_release);
            while (!is_gone.load(std::memory_order_acquire))
                ouro::os::yield_thread();
        };
        auto destroy = [&] {
            while (!has_used.load(std::memory_order_acquire))
                ouro::os::yield_thread();
            heap.reset();
            if (round % 2 == 0) heap.emplace(*SmallObjectAllocator::create({.max_bytes = kHeapBytes}));
            is_gone.store(true, std::memory_order_release);
        };
        auto user = start(work);
        auto destroyer = start(destroy);
        user.join();
        destroyer.join();
        if (!heap) continue;
        ASSERT_TRUE(heap->allocate(64));
        ASSERT_EQ(heap->stats().live_blocks, 1U) << round;
        ASSERT_EQ(heap->counts().heaps, 1U) << round;
        ASSERT_EQ(heap->check(), Status::ok) << round;
    }
}

}  // namespace
