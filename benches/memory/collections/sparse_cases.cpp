#include "harness/case.hpp"
#include "harness/must.hpp"
#include "harness/peers.hpp"
#include "memory/collections/collection_suite.hpp"
#include "memory/collections/counted_memory.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/collections/compressed_sparse_array.hpp>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ouro::bench {
namespace {

// A creature's cold data: most of it seldom differs from its neighbour's.
struct Biography {
    std::uint32_t born_tick;
    std::uint32_t mother;
    std::uint16_t kind;
    std::uint16_t children;
    float health;
};
using Array = CompressedSparseArray<Biography>;
using Map = std::unordered_map<std::uint32_t, Biography, std::hash<std::uint32_t>, std::equal_to<>,
                               CountedAllocator<std::pair<const std::uint32_t, Biography>>>;

Biography make_biography(std::uint32_t index) {
    return {1000 + index * 3, index / 8, static_cast<std::uint16_t>(index / 5000), 0, 100};
}

// Three of four indices are occupied, as after some deaths.
std::vector<std::uint32_t> make_indices(std::uint64_t count) {
    std::vector<std::uint32_t> indices;
    for (std::uint32_t index = 0; indices.size() < count; ++index)
        if (index % 4 != 3) indices.push_back(index);
    return indices;
}

void fill(Array& array, Map& map, const std::vector<std::uint32_t>& indices) {
    for (const std::uint32_t index : indices) {
        must(array.set(index, make_biography(index)) == Status::ok, "set");
        map[index] = make_biography(index);
    }
}

void measure_access(Session& session, std::vector<std::uint32_t> indices, std::size_t max_raw_chunks,
                    const char* name, bool in_order) {
    CountedResource memory;
    MemoryCount theirs;
    auto array = must(Array::create(memory, {.max_raw_chunks = max_raw_chunks}), "make an array");
    Map map{CountedAllocator<std::pair<const std::uint32_t, Biography>>(theirs)};
    fill(array, map, indices);
    if (!in_order) Random(1).shuffle(std::span(indices));
    Case measured = session.measure(name, kNanoseconds);
    measured
        .ours([&](Round& round) {
            std::uint64_t sum = 0;
            round.time([&] {
                for (std::uint64_t i = 0; i < round.operations(); ++i)
                    sum += array.get(indices[i % indices.size()])->born_tick;
            });
            round.check(sum);
            round.use_memory(memory.count().live_bytes);
        })
        .peer("std::unordered_map", standard_library_version(),
              [&](Round& round) {
                  std::uint64_t sum = 0;
                  round.time([&] {
                      for (std::uint64_t i = 0; i < round.operations(); ++i)
                          sum += map.find(indices[i % indices.size()])->second.born_tick;
                  });
                  round.check(sum);
                  round.use_memory(theirs.live_bytes);
              })
        .operations(indices.size());
    if (in_order) {
        measured.note("every chunk is unpacked once a pass: time for memory");
    } else {
        measured.bar(ratio_at_most(1.0));
    }
    measured.run();
}

void measure_walk(Session& session, const std::vector<std::uint32_t>& indices) {
    CountedResource memory;
    MemoryCount theirs;
    auto array = must(Array::create(memory, {.max_raw_chunks = 4}), "make an array");
    Map map{CountedAllocator<std::pair<const std::uint32_t, Biography>>(theirs)};
    fill(array, map, indices);
    must(array.compress_all(), "compress");
    session.measure("sparse array: walk all, packed", kNanoseconds)
        .ours([&](Round& round) {
            std::uint64_t sum = 0;
            round.time([&] {
                must(array.for_each([&](std::uint32_t index, const Biography& value) {
                    sum += index ^ value.born_tick;
                }) == Status::ok,
                     "walk");
            });
            round.check(sum);
            round.use_memory(memory.count().live_bytes);
        })
        .peer("std::unordered_map", standard_library_version(),
              [&](Round& round) {
                  std::uint64_t sum = 0;
                  round.time([&] {
                      for (const auto& [index, value] : map)
                          sum += index ^ value.born_tick;
                  });
                  round.check(sum);
                  round.use_memory(theirs.live_bytes);
              })
        .operations(indices.size())
        .note("one operation is one element; ours comes in the order of the index")
        .run();
}

}  // namespace

void measure_sparse_arrays(Session& session) {
    const auto indices = make_indices(session.sized(300'000, 5'000));
    measure_access(session, indices, 1000, "sparse array: get at random, all unpacked", false);
    measure_access(session, indices, 8, "sparse array: get in order, 8 chunks unpacked", true);
    measure_walk(session, indices);
}

}  // namespace ouro::bench
