#include "harness/case.hpp"
#include "harness/must.hpp"
#include "harness/peers.hpp"
#include "ring/ring_suite.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/pool.hpp>
#include <ouro/memory/tlsf_allocator.hpp>
#include <ouro/os/virtual_memory.hpp>
#include <ouro/streams/sim_map.hpp>
#include <ouro/streams/sim_pool.hpp>
#include <ouro/streams/sim_vec.hpp>

#include <cstdlib>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ouro::bench {
namespace {

constexpr std::size_t kSegmentBytes = std::size_t{64} << 20;
constexpr std::size_t kLive = 10'000;
constexpr std::size_t kExchanged = 100;

struct Item {
    std::uint64_t id;
    float weight;
    std::uint32_t kind;
};

struct World {
    SimVec<Item> items;
    SimMap<std::uint64_t, std::uint64_t> map;
    SimPool<Item> pool;
};

// All cases use one ring, whose tick is never ended: the pages are marked after the first round, as they are
// for most writes of a tick.
struct Scene {
    StateRing ring;
    ImageHeap heap;
    OffsetPtr<World> world;

    [[nodiscard]] auto items() { return heap.bind(heap.get(world).items); }
    [[nodiscard]] auto map() { return heap.bind(heap.get(world).map); }
    [[nodiscard]] auto pool() { return heap.bind(heap.get(world).pool); }
};

Scene make_scene() {
    const SegmentOptions segment{.name = "world", .bytes = kSegmentBytes};
    StateRing ring = must(StateRing::create({.segments = {&segment, 1}, .history_ticks = 4}), "make a ring");
    must(os::prefault(must(ring.segment_block("world"), "find the segment")), "prefault");
    ImageHeap heap = must(ImageHeap::create(ring, "world"), "make a heap");
    const OffsetPtr<World> world = must(heap.make_root<World>("world"), "make a root");
    return {std::move(ring), heap, world};
}

std::vector<std::uint32_t> shuffled(std::size_t count) {
    std::vector<std::uint32_t> all(count);
    Random random(1);
    for (std::uint32_t i = 0; i < count; ++i) {
        all[i] = i;
        std::swap(all[i], all[random.below(i + 1)]);
    }
    return all;
}

// One operation frees an object and allocates one, a hundred of each at a time.
template <class Take, class Give>
Work churn(const std::vector<std::uint32_t>& order, Take take, Give give) {
    return [&order, take, give](Round& round) {
        std::vector<decltype(take())> live;
        for (std::size_t i = 0; i < kLive; ++i)
            live.push_back(take());
        std::uint64_t exchanged = 0;
        round.time([&] {
            for (std::size_t at = 0; exchanged < round.operations(); at = (at + kExchanged) % order.size()) {
                for (std::size_t i = 0; i < kExchanged; ++i)
                    give(live[order[at + i]]);
                for (std::size_t i = 0; i < kExchanged; ++i)
                    live[order[at + i]] = take();
                exchanged += kExchanged;
            }
        });
        for (auto& each : live)
            give(each);
        round.check(exchanged);
    };
}

std::byte* touch(std::byte* block) {
    *static_cast<volatile std::byte*>(block) = std::byte{1};
    return block;
}

void measure_heap(Session& session, Scene& scene, const std::vector<std::uint32_t>& order) {
    auto memory = must(FrameAllocator::create({.max_bytes = kSegmentBytes}), "make room");
    const MemoryBlock block = must(memory.allocate(kSegmentBytes, 4096), "make room");
    must(os::prefault(block), "prefault");
    auto tlsf = must(TlsfAllocator::create_in(block), "make a heap");
    for (const std::size_t size : {std::size_t{64}, std::size_t{1024}}) {
        session.measure("image heap: churn, " + std::to_string(size) + " B", kNanoseconds)
            .ours(churn(
                order, [&scene, size] { return touch(scene.heap.allocate(size)->data); },
                [&scene, size](std::byte* at) { scene.heap.deallocate({at, size}); }))
            .peer("TlsfAllocator", "our own, not zeroed",
                  churn(
                      order, [&tlsf, size] { return touch(tlsf.allocate(size, 16)->data); },
                      [&tlsf, size](std::byte* at) { tlsf.deallocate({at, size}, 16); }))
            .peer("calloc", libc_version(),
                  churn(
                      order, [size] { return touch(static_cast<std::byte*>(std::calloc(1, size))); },
                      [](std::byte* at) { std::free(at); }))
            .peer("malloc", libc_version(),
                  churn(
                      order, [size] { return touch(static_cast<std::byte*>(std::malloc(size))); },
                      [](std::byte* at) { std::free(at); }))
            .run();
    }
}

Item item(std::uint64_t id) {
    return {id, 1.0F, 7};
}

// From no memory at all to so many elements.
template <class Fill>
Work fills(Fill fill) {
    return [fill](Round& round) {
        round.time([&] { fill(round.operations()); });
        round.check(round.operations());
    };
}

void measure_vec_filling(Session& session, Scene& scene, std::vector<Item>& standard, std::uint64_t count) {
    session.measure("sim vec: push_back, 16 B", kNanoseconds)
        .ours(fills([&](std::uint64_t elements) {
            auto items = scene.items();
            items.release();
            for (std::uint64_t i = 0; i < elements; ++i)
                must(items.push_back(item(i)) == Status::ok, "push back");
        }))
        .peer("std::vector", standard_library_version(), fills([&](std::uint64_t elements) {
                  standard = {};
                  for (std::uint64_t i = 0; i < elements; ++i)
                      standard.push_back(item(i));
              }))
        .operations(count)
        .run();
}

void measure_vec_use(Session& session, Scene& scene, std::vector<Item>& standard, std::uint64_t count) {
    const auto sum = [](const auto& items) {
        std::uint64_t all = 0;
        for (const Item& each : items)
            all += each.id;
        return all;
    };
    session.measure("sim vec: iterate, 16 B", kNanoseconds)
        .ours([&](Round& round) { round.time([&] { round.check(sum(scene.items())); }); })
        .peer("std::vector", standard_library_version(),
              [&](Round& round) { round.time([&] { round.check(sum(standard)); }); })
        .operations(count)
        .run();
    session.measure("sim vec: write each element, each marked", kNanoseconds)
        .ours(fills([&](std::uint64_t elements) {
            auto items = scene.items();
            for (std::uint32_t i = 0; i < elements; ++i)
                items.edit(i).kind += 1;
        }))
        .peer("std::vector", standard_library_version(), fills([&](std::uint64_t elements) {
                  for (std::uint32_t i = 0; i < elements; ++i)
                      standard[i].kind += 1;
                  keep(standard);
              }))
        .operations(count)
        .run();
    session.measure("sim vec: write each element, marked at once", kNanoseconds)
        .ours(fills([&](std::uint64_t) {
            for (Item& each : scene.items().edit_all())
                each.kind += 1;
        }))
        .peer("std::vector", standard_library_version(), fills([&](std::uint64_t) {
                  for (Item& each : standard)
                      each.kind += 1;
                  keep(standard);
              }))
        .operations(count)
        .run();
}

void measure_vec(Session& session, Scene& scene) {
    const std::uint64_t count = session.sized(100'000, 1'000);
    std::vector<Item> standard;
    measure_vec_filling(session, scene, standard, count);
    must(scene.items().resize(static_cast<std::uint32_t>(count)) == Status::ok, "resize");
    standard.resize(count);
    measure_vec_use(session, scene, standard, count);
}

std::uint64_t key_of(std::uint32_t number) {
    return mix_bits(number);
}

// The same entries in ours and in the standard ones, and the order in which they are added and asked for.
struct Maps {
    Scene& scene;
    std::vector<std::uint32_t> order;
    std::string name;
    std::unordered_map<std::uint64_t, std::uint64_t> hashed{};
    std::map<std::uint64_t, std::uint64_t> sorted{};

    // From no memory at all.
    void fill_ours() {
        auto map = scene.map();
        map.release();
        for (const std::uint32_t number : order)
            must(map.set(key_of(number), number) == Status::ok, "set");
    }
    void fill(auto& map) {
        map = {};
        for (const std::uint32_t number : order)
            map.emplace(key_of(number), number);
    }
    [[nodiscard]] std::uint64_t key(std::uint64_t turn) const {
        return key_of(order[turn * 7919 % order.size()]);
    }
};

void measure_map_filling(Session& session, Maps& maps) {
    session.measure(maps.name + "insert", kNanoseconds)
        .ours(fills([&](std::uint64_t) { maps.fill_ours(); }))
        .peer("std::unordered_map", standard_library_version(),
              fills([&](std::uint64_t) { maps.fill(maps.hashed); }))
        .peer("std::map", standard_library_version(), fills([&](std::uint64_t) { maps.fill(maps.sorted); }))
        .operations(maps.order.size())
        .run();
}

void measure_map_use(Session& session, Maps& maps) {
    session.measure(maps.name + "find", kNanoseconds)
        .ours(repeat([&, map = maps.scene.map()](std::uint64_t i) { return *map.find(maps.key(i)); }))
        .peer("std::unordered_map", standard_library_version(),
              repeat([&](std::uint64_t i) { return maps.hashed.find(maps.key(i))->second; }))
        .peer("std::map", standard_library_version(),
              repeat([&](std::uint64_t i) { return maps.sorted.find(maps.key(i))->second; }))
        .operations(session.sized(200'000, 1'000))
        .run();
    const auto sum = [](const auto& map) {
        std::uint64_t all = 0;
        for (const auto& [key, value] : map)
            all += value;
        return all;
    };
    session.measure(maps.name + "iterate", kNanoseconds)
        .ours([&](Round& round) { round.time([&] { round.check(sum(maps.scene.map())); }); })
        .peer("std::unordered_map", standard_library_version(),
              [&](Round& round) { round.time([&] { round.check(sum(maps.hashed)); }); })
        .peer("std::map", standard_library_version(),
              [&](Round& round) { round.time([&] { round.check(sum(maps.sorted)); }); })
        .operations(maps.order.size())
        .run();
}

void measure_map(Session& session, Scene& scene, std::size_t count) {
    Maps maps{scene, shuffled(count), "sim map of " + std::to_string(count) + ": "};
    measure_map_filling(session, maps);
    maps.fill_ours();
    maps.fill(maps.hashed);
    maps.fill(maps.sorted);
    measure_map_use(session, maps);
}

void measure_pool(Session& session, Scene& scene, const std::vector<std::uint32_t>& order) {
    auto plain = must(Pool<Item>::create({.max_objects = 100'000}), "make a pool");
    session.measure("sim pool: churn by handle, 16 B", kNanoseconds)
        .ours(churn(
            order, [&scene] { return *scene.pool().create(item(3)); },
            [&scene](SimHandle<Item> handle) { keep(scene.pool().destroy(handle)); }))
        .peer("Pool<T>", "our own",
              churn(
                  order, [&plain] { return *plain.emplace(item(3)); },
                  [&plain](Handle<Item> handle) { keep(plain.destroy(handle)); }))
        .run();
    std::vector<SimHandle<Item>> ours;
    std::vector<Handle<Item>> theirs;
    for (std::uint64_t i = 0; i < kLive; ++i) {
        ours.push_back(must(scene.pool().create(item(i)), "create"));
        theirs.push_back(must(plain.emplace(item(i)), "create"));
    }
    session.measure("sim pool: get by handle, 16 B", kNanoseconds)
        .ours(repeat(
            [&, pool = scene.pool()](std::uint64_t i) { return pool.find(ours[order[i % kLive]])->id; }))
        .peer("Pool<T>", "our own",
              repeat([&](std::uint64_t i) { return plain.get(theirs[order[i % kLive]])->id; }))
        .run();
}

}  // namespace

void measure_sim_types(Session& session) {
    Scene scene = make_scene();
    const std::vector<std::uint32_t> order = shuffled(kLive);
    measure_heap(session, scene, order);
    measure_vec(session, scene);
    measure_map(session, scene, 1'000);
    measure_map(session, scene, session.sized(100'000, 2'000));
    measure_pool(session, scene, order);
    must(scene.heap.check() == Status::ok, "verify the heap");
}

}  // namespace ouro::bench
