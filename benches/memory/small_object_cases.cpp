// One thread, objects of one size: the steady state of a program, and the deepest stack-like use.
#include "memory/general_case.hpp"
#include "memory/memory_suite.hpp"
#include "memory/object_checks.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace ouro::bench {
namespace {

constexpr std::size_t kChurnBatch = 100;
constexpr std::size_t kLifoBatch = 256;
// Beyond this the live objects say more about the caches than about the allocators.
constexpr std::size_t kMostLiveBytes = std::size_t{32} << 20;

struct ChurnPlan {
    std::size_t size = 0;
    std::size_t live = 0;
};

// Frees random objects, then allocates as many: ns a pair. The last object takes the place of a freed one, so
// that none is chosen twice.
template <class Heap>
void churn_batch(const Heap& heap, std::size_t size, std::vector<void*>& objects, Lottery& lottery) {
    std::size_t count = objects.size();
    void** all = objects.data();
    for (std::size_t i = 0; i < kChurnBatch; ++i) {
        const std::size_t chosen = lottery.below(count);
        heap.free(all[chosen], size);
        all[chosen] = all[--count];
    }
    for (std::size_t i = 0; i < kChurnBatch; ++i) {
        void* object = heap.allocate(size);
        stamp(object);
        all[count++] = object;
    }
}

template <class Heap>
Work churn(const Heap& owner, ChurnPlan plan) {
    return [owner, plan](Round& round) {
        const Heap heap = owner;
        std::vector<void*> objects(plan.live);
        weigh_from_here();
        for (void*& object : objects)
            stamp(object = heap.allocate(plan.size));
        Lottery lottery(7);
        churn_batch(heap, plan.size, objects, lottery);
        round.time([&] {
            for (std::uint64_t done = 0; done < round.operations(); done += kChurnBatch)
                churn_batch(heap, plan.size, objects, lottery);
        });
        weigh_here(round);
        round.check(count_sound(objects, plan.size));
        for (void* object : objects)
            heap.free(object, plan.size);
    };
}

// Allocates a batch and frees it from the newest to the oldest: ns a pair.
template <class Heap>
Work lifo(const Heap& owner, std::size_t size) {
    return [owner, size](Round& round) {
        const Heap heap = owner;
        std::vector<void*> objects(kLifoBatch);
        weigh_from_here();
        const auto allocate_all = [&] {
            for (void*& object : objects)
                stamp(object = heap.allocate(size));
        };
        const auto free_all = [&] {
            for (std::size_t i = kLifoBatch; i-- > 0;)
                heap.free(objects[i], size);
        };
        round.time([&] {
            for (std::uint64_t done = 0; done < round.operations(); done += kLifoBatch) {
                allocate_all();
                free_all();
            }
        });
        allocate_all();
        weigh_here(round);
        round.check(count_sound(objects, size));
        free_all();
    };
}

// Stands where the heap does and does nothing: what remains is the loop.
class NoHeap {
public:
    explicit NoHeap(void* place) noexcept : place_(place) {}
    [[nodiscard]] void* allocate(std::size_t /*size*/) const noexcept { return place_; }
    void free(void* object, std::size_t /*size*/) const noexcept { asm volatile("" : : "r"(object)); }

private:
    void* place_;
};

Work without_check(const Work& work) {
    return [work](Round& round) {
        Round inner(round.operations());
        work(inner);
        round.add_time(inner.elapsed_ns());
    };
}

GeneralBars bars_of(std::size_t size) {
    if (size > 256) return {};
    return {ratio_at_most(1.0), ratio_at_most(1.1)};
}

std::string bytes_name(std::size_t size) {
    return size < 1024 ? std::to_string(size) + " B" : size_name(size);
}

void measure_churn(Session& session, const MallocPeers& peers, std::size_t size) {
    const ChurnPlan plan{size, std::min<std::size_t>(session.sized(10'000, 500), kMostLiveBytes / size)};
    const std::uint64_t pairs = session.sized(100'000, 500);
    measure_general(
        session, peers, "churn " + bytes_name(size) + ", " + std::to_string(plan.live) + " live",
        kNanoseconds, bars_of(size), Sharing::one_thread, [&](const auto& heap) { return churn(heap, plan); },
        [&](Case& row) {
            row.operations(pairs);
            row.bound("pointers taken from an array", churn(PileHeap(size, plan.live), plan));
        });
}

void measure_lifo(Session& session, const MallocPeers& peers, std::size_t size) {
    const std::uint64_t pairs = session.sized(400, 2) * kLifoBatch;
    measure_general(
        session, peers, "LIFO " + bytes_name(size), kNanoseconds, bars_of(size), Sharing::one_thread,
        [&](const auto& heap) { return lifo(heap, size); },
        [&](Case& row) {
            row.operations(pairs);
            row.bound("pointers taken from an array", lifo(PileHeap(size, kLifoBatch), size));
        });
}

void measure_floor(Session& session) {
    std::uint64_t place = 0;
    const NoHeap nothing(&place);
    const ChurnPlan plan{sizeof(place), session.sized(10'000, 500)};
    session.measure("floor: the loop of churn alone", kNanoseconds)
        .ours(without_check(churn(nothing, plan)))
        .operations(session.sized(100'000, 500))
        .note("part of every figure of churn below")
        .run();
    session.measure("floor: the loop of LIFO alone", kNanoseconds)
        .ours(without_check(lifo(nothing, sizeof(place))))
        .operations(session.sized(400, 2) * kLifoBatch)
        .note("part of every figure of LIFO below")
        .run();
}

}  // namespace

void measure_small_objects(Session& session, const MallocPeers& peers) {
    constexpr std::size_t kSizes[] = {16, 64, 256, 1024, 4096, 32'768};
    if (!only_weighs(peers)) measure_floor(session);
    for (const std::size_t size : kSizes)
        measure_churn(session, peers, size);
    for (const std::size_t size : kSizes)
        measure_lifo(session, peers, size);
}

}  // namespace ouro::bench
