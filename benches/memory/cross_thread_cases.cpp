// Objects that are allocated on one thread and freed on another.
#include "harness/pinning.hpp"
#include "memory/batch_queue.hpp"
#include "memory/general_case.hpp"
#include "memory/memory_suite.hpp"
#include "memory/object_checks.hpp"
#include "memory/resident_memory.hpp"
#include "os/two_threads.hpp"

#include <ouro/os/thread.hpp>

#include <memory>
#include <string>
#include <vector>

namespace ouro::bench {
namespace {

// Of the cases that are about one size only.
constexpr std::size_t kSize = 64;
// Objects in a batch of frees.
constexpr std::size_t kObjects = 64;
constexpr std::uint64_t kWeighedObjects = 64 * BatchQueue::kBatch;

template <class Heap>
void produce(const Heap& heap, std::size_t size, BatchQueue& queue, std::uint64_t batches) {
    heap.begin_thread();
    for (std::uint64_t i = 0; i < batches; ++i) {
        for (void*& object : queue.next_to_fill())
            stamp(object = heap.allocate(size));
        queue.hand_over();
    }
}

// Returns how many objects arrived as they were sent.
template <class Heap>
std::uint64_t consume(const Heap& heap, std::size_t size, BatchQueue& queue, std::uint64_t batches) {
    heap.begin_thread();
    std::uint64_t sound = 0;
    for (std::uint64_t i = 0; i < batches; ++i) {
        for (void* object : queue.next_to_empty()) {
            sound += has_stamp(object) ? 1U : 0U;
            heap.free(object, size);
        }
        queue.give_back();
    }
    return sound;
}

// Both threads at work at the same time; ns an object.
template <class Heap>
std::uint64_t send(const Heap& heap, std::size_t size, SecondThread& second, std::uint64_t objects) {
    BatchQueue queue;
    std::uint64_t sound = 0;
    second.run_both([&](int part) {
        const std::uint64_t batches = objects / BatchQueue::kBatch;
        if (part == 0)
            produce(heap, size, queue, batches);
        else
            sound = consume(heap, size, queue, batches);
    });
    return sound;
}

// Without a second thread, as only a process with one thread can have children, the work makes one itself.
void measure_cross(Session& session, const MallocPeers& peers, SecondThread* second, std::size_t size) {
    const std::uint64_t objects = session.sized(1'000, 8) * BatchQueue::kBatch;
    const auto make_work = [&, size](const auto& heap) {
        return Work([heap, size, second](Round& round) {
            std::uint64_t sound = 0;
            if (second == nullptr) {
                SecondThread own;
                weigh_from_here();
                sound = send(heap, size, own, kWeighedObjects);
                weigh_here(round);
            } else {
                round.time([&] { sound = send(heap, size, *second, round.operations()); });
            }
            round.check(sound);
        });
    };
    measure_general(session, peers, "cross " + std::to_string(size) + " B", kNanoseconds,
                    {ratio_at_most(1.0), ratio_at_most(1.0)}, Sharing::several_threads, make_work,
                    [&](Case& row) { row.operations(objects); });
}

// What the freeing thread pays for objects of another one.
void measure_remote_batch(Session& session, const MallocPeers& peers, SecondThread& second) {
    const auto make_work = [&](const auto& heap) {
        return Work([heap, &second](Round& round) {
            std::vector<void*> objects(round.operations() * kObjects);
            second.run_both([&](int part) {
                heap.begin_thread();
                if (part == 0) return;
                for (void*& object : objects)
                    stamp(object = heap.allocate(kSize));
            });
            round.check(count_sound(objects, kSize));
            round.time([&] {
                for (void* object : objects)
                    heap.free(object, kSize);
            });
        });
    };
    measure_general(session, peers, "free " + std::to_string(kObjects) + " of another thread", kMicroseconds,
                    {value_at_most(2.0), value_at_most(2.0)}, Sharing::several_threads, make_work,
                    [&](Case& row) { row.operations(session.sized(200, 2)); });
}

// One thread only allocates, another only frees. What the first needs it must get back from what the second
// returned: after a warm-up nothing may be added to the process's memory, however long it goes on.
void measure_growth(Session& session, const MallocPeers& peers, SecondThread& second) {
    const std::uint64_t objects = session.sized(20'000, 8) * BatchQueue::kBatch;
    const auto make_work = [&](const auto& heap) {
        return Work([heap, objects, &second](Round& round) {
            std::uint64_t sound = send(heap, kSize, second, objects / 4);
            const std::uint64_t before = resident_bytes();
            sound += send(heap, kSize, second, objects);
            const std::uint64_t after = resident_bytes();
            round.add_figure(after > before ? static_cast<double>(after - before) : 0);
            round.check(sound);
        });
    };
    measure_general(session, peers, "growth over " + std::to_string(objects) + " sent", kMebibytes,
                    {value_at_most(0.5), value_at_most(0.5), {}}, Sharing::several_threads, make_work,
                    [&](Case& row) {
                        row.operations(1).rounds_at_most(2).note(
                            "resident memory added after a warm-up of a "
                            "quarter; 64 B each, one way");
                    });
}

constexpr std::size_t kCrossSizes[] = {16, 64, 256};

// Left alone, the system lets both threads share a core for whole rounds now and then, and what is measured
// is how long they wait for each other's time slices.
void measure_on_a_core_each(Session& session, const MallocPeers& peers) {
    const PinnedScope first_core(true);
    SecondThread second;
    second.run_both([](int part) {
        if (part == 1) (void)os::pin_this_thread(0);
    });
    for (const std::size_t size : kCrossSizes)
        measure_cross(session, peers, &second, size);
    measure_remote_batch(session, peers, second);
}

}  // namespace

void measure_cross_thread(Session& session, const MallocPeers& peers) {
    if (only_weighs(peers)) {
        for (const std::size_t size : kCrossSizes)
            measure_cross(session, peers, nullptr, size);
        return;
    }
    if (os::core_count() < 2) {
        session.measure("cross", kNanoseconds).unavailable("there is one core only");
        return;
    }
    measure_on_a_core_each(session, peers);
    SecondThread second;
    measure_growth(session, peers, second);
}

}  // namespace ouro::bench
