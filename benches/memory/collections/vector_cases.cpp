#include "harness/case.hpp"
#include "harness/peers.hpp"
#include "memory/collections/collection_suite.hpp"
#include "memory/collections/counted_memory.hpp"

#include <ouro/memory/collections/capacity_pool.hpp>
#include <ouro/memory/collections/pooled_vector.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ouro::bench {
namespace {

template <class T>
T make_value(std::uint64_t number) {
    if constexpr (std::is_same_v<T, std::unique_ptr<std::uint64_t>>) {
        // Without an allocation of its own: what is measured is the vector.
        return nullptr;
    } else {
        return T{static_cast<std::uint32_t>(number)};
    }
}

// One operation is one element added to a vector that is made for `count` of them and dies after.
template <class T, class Make>
Work fresh_vectors(std::uint64_t count, MemoryCount& memory, Make make) {
    return [=, &memory](Round& round) {
        memory.forget_peak();
        std::uint64_t sum = 0;
        round.time([&] {
            for (std::uint64_t done = 0; done < round.operations(); done += count) {
                auto vector = make();
                for (std::uint64_t i = 0; i < count; ++i) {
                    auto value = make_value<T>(i);
                    (void)vector.push_back(std::move(value));
                }
                keep(vector);
                sum += vector.size();
            }
        });
        round.check(sum);
        round.use_memory(memory.peak_bytes);
    };
}

// One operation is one element added to a vector that keeps its capacity.
template <class Vector>
Work refilled(Vector& vector, std::uint64_t count) {
    return [&vector, count](Round& round) {
        std::uint64_t sum = 0;
        round.time([&] {
            for (std::uint64_t done = 0; done < round.operations(); done += count) {
                vector.clear();
                for (std::uint64_t i = 0; i < count; ++i)
                    (void)vector.push_back(i);
                keep(vector);
                sum += vector.size() + vector[count / 2];
            }
        });
        round.check(sum);
    };
}

// Whole vectors, and enough of them for a round.
std::uint64_t operations_of(std::uint64_t count) {
    constexpr std::uint64_t kAtLeast = 200'000;
    return (kAtLeast + count - 1) / count * count;
}

template <class T>
void measure_fresh(Session& session, std::uint64_t count, const std::string& what) {
    CountedResource ours;
    CountedResource pooled;
    CapacityPool pool(pooled);
    MemoryCount theirs;
    const std::string label = "vector: " + std::to_string(count) + " x " + what;
    const Work peer = fresh_vectors<T>(
        count, theirs, [&] { return std::vector<T, CountedAllocator<T>>(CountedAllocator<T>(theirs)); });
    session.measure(label, kNanoseconds)
        .ours(fresh_vectors<T>(count, ours.count(), [&] { return PooledVector<T>(ours); }))
        .peer("std::vector", standard_library_version(), peer)
        .operations(operations_of(count))
        .bar(ratio_at_most(1.0))
        .run();
    session.measure(label + ", on a capacity pool", kNanoseconds)
        .ours(fresh_vectors<T>(count, pooled.count(), [&] { return PooledVector<T>(pool); }))
        .peer("std::vector", standard_library_version(), peer)
        .operations(operations_of(count))
        .bar(ratio_at_most(1.0))
        .run();
}

}  // namespace

void measure_vectors(Session& session) {
    measure_fresh<std::uint32_t>(session, 16, "4 B");
    measure_fresh<std::uint32_t>(session, 1000, "4 B");
    measure_fresh<std::uint32_t>(session, session.sized(1'000'000, 10'000), "4 B");
    measure_fresh<std::unique_ptr<std::uint64_t>>(session, 1000, "unique_ptr");

    constexpr std::uint64_t kRefill = 4000;
    CountedResource ours;
    PooledVector<std::uint64_t> vector(ours);
    std::vector<std::uint64_t> peer;
    session.measure("vector: refill 4000 x 8 B", kNanoseconds)
        .ours(refilled(vector, kRefill))
        .peer("std::vector", standard_library_version(), refilled(peer, kRefill))
        .operations(operations_of(kRefill))
        .bar(ratio_at_most(1.05))
        .run();
}

}  // namespace ouro::bench
