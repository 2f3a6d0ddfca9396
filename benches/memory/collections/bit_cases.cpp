#include "harness/case.hpp"
#include "harness/must.hpp"
#include "harness/peers.hpp"
#include "memory/collections/collection_suite.hpp"
#include "memory/collections/counted_memory.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/collections/bit_set.hpp>

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ouro::bench {
namespace {

constexpr std::size_t kBits = 65536;
using Ours = FixedBitSet<kBits>;
using Bitset = std::bitset<kBits>;

// Both lie alike to the line, so that two of ours are as far apart as two of theirs: loads and stores that
// are whole pages apart wait for each other.
struct Placed {
    alignas(64) Ours fixed;
    alignas(64) Bitset bitset;
};

// The same bits in each.
struct Sets {
    std::unique_ptr<Placed> placed = std::make_unique<Placed>();
    Ours* fixed = &placed->fixed;
    Bitset* bitset = &placed->bitset;
    std::vector<bool> bools = std::vector<bool>(kBits);
    BitSet dynamic;

    Sets(Allocator allocator, double density, std::uint64_t seed)
        : dynamic(must(BitSet::create(allocator, kBits), "make a set")) {
        Random random(seed);
        for (std::size_t i = 0; i < kBits; ++i) {
            if (!random.chance(density)) continue;
            fixed->set(i);
            bitset->set(i);
            bools[i] = true;
            dynamic.set(i);
        }
    }
};

void measure_count(Session& session, const Sets& sets) {
    session.measure("bits: count 65536", kNanoseconds)
        .ours(repeat([&](std::uint64_t) {
            keep(sets.dynamic);
            return sets.dynamic.count();
        }))
        .peer("std::bitset", standard_library_version(), repeat([&](std::uint64_t) {
                  keep(*sets.bitset);
                  return sets.bitset->count();
              }))
        .peer("std::vector<bool>", standard_library_version(), repeat([&](std::uint64_t) {
                  keep(sets.bools);
                  return static_cast<std::uint64_t>(std::count(sets.bools.begin(), sets.bools.end(), true));
              }))
        .bar(ratio_at_most(1.0))
        .run();
}

void measure_walk(Session& session, const Sets& sets, const std::string& density) {
    session.measure("bits: walk the set ones of 65536, " + density, kNanoseconds)
        .ours(repeat([&](std::uint64_t) {
            std::uint64_t sum = 0;
            for (const std::size_t index : sets.dynamic)
                sum += index;
            return sum;
        }))
        .peer("std::bitset", standard_library_version(), repeat([&](std::uint64_t) {
                  std::uint64_t sum = 0;
                  for (std::size_t i = sets.bitset->_Find_first(); i < kBits; i = sets.bitset->_Find_next(i))
                      sum += i;
                  return sum;
              }))
        .peer("std::vector<bool>", standard_library_version(), repeat([&](std::uint64_t) {
                  std::uint64_t sum = 0;
                  for (std::size_t i = 0; i < kBits; ++i)
                      if (sets.bools[i]) sum += i;
                  return sum;
              }))
        .bar(ratio_at_most(1.0))
        .run();
}

void measure_union(Session& session, Sets& sets, const Sets& others) {
    session.measure("bits: union of two sets of 65536", kNanoseconds)
        .ours(repeat([&](std::uint64_t) {
            *sets.fixed |= *others.fixed;
            keep(*sets.fixed);
        }))
        .peer("std::bitset", standard_library_version(), repeat([&](std::uint64_t) {
                  *sets.bitset |= *others.bitset;
                  keep(*sets.bitset);
              }))
        .bar(ratio_at_most(1.05))
        .run();
}

void measure_single(Session& session, Sets& sets) {
    std::vector<std::uint32_t> places(4096);
    Random random(5);
    for (std::uint32_t& place : places)
        place = random.below(kBits);
    const auto run = [&](auto& set, auto flip, auto test) {
        return repeat([&, flip, test](std::uint64_t i) {
            const std::uint32_t place = places[i % 4096];
            flip(set, place);
            const std::uint64_t now = test(set, place) ? 1U : 0U;
            flip(set, place);
            return now;
        });
    };
    session.measure("bits: flip, test and flip one of 65536", kNanoseconds)
        .ours(run(
            sets.dynamic, [](auto& set, std::size_t i) { set.flip(i); },
            [](auto& set, std::size_t i) { return set.test(i); }))
        .peer("std::bitset", standard_library_version(),
              run(
                  *sets.bitset, [](auto& set, std::size_t i) { set.flip(i); },
                  [](auto& set, std::size_t i) { return set.test(i); }))
        .peer("std::vector<bool>", standard_library_version(),
              run(
                  sets.bools, [](auto& set, std::size_t i) { set[i].flip(); },
                  [](auto& set, std::size_t i) { return bool(set[i]); }))
        .bar(ratio_at_most(1.05))
        .run();
}

}  // namespace

void measure_bits(Session& session) {
    CountedResource memory;
    Sets half(memory, 0.5, 1);
    const Sets sparse(memory, 0.01, 2);
    measure_single(session, half);
    measure_count(session, half);
    measure_walk(session, half, "half of them");
    measure_walk(session, sparse, "1 % of them");
    measure_union(session, half, sparse);
}

}  // namespace ouro::bench
