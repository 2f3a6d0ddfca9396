// What one thread with a few sizes does not show: large blocks of two threads at once, a thread that uses
// more heaps by turns than it remembers, and one that goes on after many others have ended.
#include "memory/general_case.hpp"
#include "memory/memory_suite.hpp"
#include "memory/object_checks.hpp"
#include "os/two_threads.hpp"

#include <ouro/os/thread.hpp>

#include <array>
#include <latch>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ouro::bench {
namespace {

constexpr std::size_t kLeastLargeBytes = (std::size_t{64} << 10) + 1;
constexpr std::size_t kMostLargeBytes = std::size_t{1} << 20;
constexpr std::size_t kWindow = 16;

// Some live blocks at a time, of which any is freed for the next; returns how many were as they were left.
template <class Heap>
std::uint64_t churn_large(const Heap& heap, std::uint64_t seed, std::uint64_t blocks) {
    struct Held {
        void* block = nullptr;
        std::size_t bytes = 0;
    };
    heap.begin_thread();
    std::array<Held, kWindow> window{};
    Lottery lottery(seed);
    std::uint64_t sound = 0;
    const auto give_back = [&](Held& held) {
        if (held.block == nullptr) return;
        sound += has_stamp(held.block) ? 1U : 0U;
        heap.free(held.block, held.bytes);
    };
    for (std::uint64_t count = 0; count < blocks; ++count) {
        Held& held = window[lottery.below(kWindow)];
        give_back(held);
        held.bytes = kLeastLargeBytes + lottery.below(kMostLargeBytes - kLeastLargeBytes);
        stamp(held.block = heap.allocate(held.bytes));
    }
    for (Held& held : window)
        give_back(held);
    return sound;
}

void measure_large_blocks(Session& session, const MallocPeers& peers) {
    SecondThread second(SecondThread::Placement::own_core);
    // Enough that waking the second thread, and the first touch of pages, are a small part of it.
    const std::uint64_t blocks = session.sized(40'000, 64);
    const auto make_work = [&](const auto& heap) {
        return Work([heap, &second](Round& round) {
            std::array<std::uint64_t, 2> sound{};
            round.time([&] {
                second.run_both([&](int part) {
                    sound[static_cast<std::size_t>(part)] =
                        churn_large(heap, static_cast<std::uint64_t>(part) + 1, round.operations() / 2);
                });
            });
            round.check(sound[0] + sound[1]);
        });
    };
    measure_general(session, peers, "large: churn 64 KiB to 1 MiB, 2 threads", kNanoseconds, {},
                    Sharing::two_cores, make_work, [&](Case& row) { row.operations(blocks); });
}

// An object of each heap after the other, freed at once.
Work use_by_turns(std::size_t heaps) {
    auto all = std::make_shared<std::vector<SmallObjectAllocator>>();
    for (std::size_t count = 0; count < heaps; ++count)
        all->push_back(must(SmallObjectAllocator::create({.name = "one of many", .max_bytes = 64 << 20}),
                            "make a heap"));
    return [all](Round& round) {
        std::uint64_t sound = 0;
        round.time([&] {
            for (std::uint64_t count = 0; count < round.operations();) {
                for (auto heap = all->begin(); heap != all->end() && count < round.operations(); ++heap) {
                    const auto block = heap->allocate(64);
                    stamp(block->data);
                    sound += has_stamp(block->data) ? 1U : 0U;
                    heap->deallocate(*block);
                    ++count;
                }
            }
        });
        round.check(sound);
    };
}

// What a thread pays where it does not remember all of its heaps, beside one that does.
void measure_many_heaps(Session& session) {
    session.measure("small: 96 heaps by turns, one thread", kNanoseconds)
        .ours(use_by_turns(96))
        .peer("ours with 48 heaps", "this build", use_by_turns(48))
        .operations(session.sized(96'000, 960))
        .note("an allocation and a free; a thread remembers 64 of its heaps")
        .run();
}

// Threads that are all there at a time, use some sizes, leave a block each, and end.
template <class Heap>
void end_threads(const Heap& heap, std::size_t count) {
    constexpr std::size_t kSizes = 64;
    struct Start {
        const Heap& heap;
        std::latch all_there;
    };
    Start start{heap, std::latch(static_cast<std::ptrdiff_t>(count))};
    const auto work = [](void* argument) {
        Start& given = *static_cast<Start*>(argument);
        given.heap.begin_thread();
        std::array<void*, kSizes> blocks{};
        for (std::size_t index = 0; index < kSizes; ++index)
            blocks[index] = given.heap.allocate(16 + 8 * index);
        given.all_there.arrive_and_wait();
        for (std::size_t index = 1; index < kSizes; ++index)
            given.heap.free(blocks[index], 16 + 8 * index);
    };
    std::vector<os::Thread> threads;
    for (std::size_t index = 0; index < count; ++index)
        threads.push_back(must(os::Thread::start(work, &start), "start a thread"));
    for (os::Thread& thread : threads)
        thread.join();
}

// All blocks are live at a time, so that slabs are asked for again and again.
void measure_after_ended_threads(Session& session, const MallocPeers& peers) {
    const std::size_t threads = session.sized(1'000, 10);
    const auto make_work = [&](const auto& heap) {
        return Work([heap, threads, has_ended = std::make_shared<bool>(false)](Round& round) {
            if (!std::exchange(*has_ended, true)) end_threads(heap, threads);
            std::vector<void*> blocks(round.operations());
            std::uint64_t sound = 0;
            round.time([&] {
                for (void*& block : blocks)
                    stamp(block = heap.allocate(64));
                for (void* const block : blocks) {
                    sound += has_stamp(block) ? 1U : 0U;
                    heap.free(block, 64);
                }
            });
            round.check(sound);
        });
    };
    measure_general(
        session, peers, "small: 64 bytes after " + std::to_string(threads) + " ended threads", kNanoseconds,
        {}, Sharing::several_threads, make_work, [&](Case& row) {
            row.operations(session.sized(200'000, 2'000))
                .note("an allocation and a free, all blocks live at a time; each thread left a block");
        });
}

}  // namespace

void measure_threads_and_heaps(Session& session, const MallocPeers& peers) {
    if (session.wants("small: 96 heaps by turns, one thread")) measure_many_heaps(session);
    if (os::core_count() < 2) {
        session.measure("large", kNanoseconds).unavailable("there is one core only");
        return;
    }
    measure_large_blocks(session, peers);
    measure_after_ended_threads(session, peers);
}

}  // namespace ouro::bench
