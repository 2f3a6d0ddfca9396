// How much memory a heap needs for what is live in it: no times, but figures of the same shape.
#include "harness/case.hpp"
#include "harness/must.hpp"
#include "memory/memory_suite.hpp"
#include "memory/tlsf_heaps.hpp"
#include "memory/variable_workload.hpp"

#include <ouro/base/align.hpp>
#include <ouro/memory/frame_allocator.hpp>

namespace ouro::bench {
namespace {

constexpr Unit kTimesLive{"x live", 1};
constexpr Unit kPercent{"%", 1};
constexpr double kFragmentationBar = 0.93;
constexpr double kWasteBarPercent = 1.5;
// How exactly the smallest region is searched for.
constexpr double kPrecision = 0.002;
// Small workloads need more than large ones, beside what a heap needs for itself.
constexpr double kMostTimesLive = 2.5;
constexpr const char* kHowToGetTlsf = "needs tlsf.h and its library, or tlsf.c beside it, under --peers";

struct Need {
    double times_live = 0;
    std::size_t region_bytes = 0;
};

// The smallest region in which the whole workload succeeds. `make(bytes)` gives a heap of that size.
template <class Make>
Need search_need(const VariableWorkload& workload, Make make) {
    double low = 1.0;
    double high = kMostTimesLive;
    std::vector<void*> blocks;
    std::vector<std::uint32_t> sizes;
    const auto bytes_of = [&](double times) {
        return align_down(static_cast<std::size_t>(times * static_cast<double>(workload.peak_live_bytes)),
                          16);
    };
    const auto suffices = [&](double times) {
        return make(bytes_of(times), [&](auto heap) {
            return replay(workload, heap, blocks, sizes) == workload.steps.size();
        });
    };
    must(suffices(high), "find a region that suffices");
    while (high - low > kPrecision) {
        const double middle = (low + high) / 2;
        (suffices(middle) ? high : low) = middle;
    }
    return {high, bytes_of(high)};
}

// A figure that was found before, as the time of one operation.
Work known(double value, std::uint64_t memory_bytes) {
    return [=](Round& round) {
        round.add_time(value * static_cast<double>(round.operations()));
        round.use_memory(memory_bytes);
    };
}

// Adds up what was asked for and what the blocks took, over every allocation of the workload.
template <class Heap, class Footprint>
struct Counting {
    Heap heap;
    Footprint footprint;
    double asked = 0;
    double taken = 0;

    void* allocate(std::size_t size) {
        void* block = heap.allocate(size);
        if (block != nullptr) {
            asked += static_cast<double>(size);
            taken += static_cast<double>(footprint(block, size));
        }
        return block;
    }
    void free(void* block, std::size_t size) { heap.free(block, size); }
};

// What blocks take beyond what was asked, and the heap for itself, in a hundred bytes live.
template <class Heap, class Footprint>
double waste_percent(const VariableWorkload& workload, Heap heap, Footprint footprint,
                     std::size_t control_bytes) {
    Counting<Heap, Footprint> counting{heap, footprint};
    std::vector<void*> blocks;
    std::vector<std::uint32_t> sizes;
    must(replay(workload, counting, blocks, sizes) == workload.steps.size(), "run the workload");
    const double in_blocks = counting.taken / counting.asked - 1;
    const double in_control =
        static_cast<double>(control_bytes) / static_cast<double>(workload.peak_live_bytes);
    return (in_blocks + in_control) * 100;
}

double our_waste_percent(const VariableWorkload& workload, MemoryBlock region) {
    auto heap = must(TlsfAllocator::create_in(region), "make a heap");
    const auto footprint = [](void*, std::size_t size) { return align_up(size, TlsfHeap::kUnit); };
    const double percent =
        waste_percent(workload, OurTlsf{heap}, footprint, TlsfHeap::control_bytes(region.size));
    must(heap.check() == Status::ok, "verify the heap");
    return percent;
}

double classic_waste_percent(const VariableWorkload& workload, const TlsfPeer& peer, MemoryBlock region) {
    const ClassicHeap heap{&peer, peer.create_with_pool(region.data, region.size)};
    const auto footprint = [&](void* block, std::size_t) {
        return peer.block_size(block) + peer.block_overhead();
    };
    return waste_percent(workload, heap, footprint, peer.control_size());
}

}  // namespace

void measure_tlsf_space(Session& session) {
    const std::uint64_t steps = session.sized(3'000'000, 5'000);
    const auto workload = VariableWorkload::record(1, steps, steps / 6, session.sized(70'000'000, 2'000'000));
    auto memory = must(FrameAllocator::create({.max_bytes = 3 * workload.peak_live_bytes}), "make room");
    const MemoryBlock room = must(
        memory.allocate(
            static_cast<std::size_t>(kMostTimesLive * static_cast<double>(workload.peak_live_bytes)), 4096),
        "make room");

    const Need ours = search_need(workload, [&](std::size_t bytes, auto run) {
        auto heap = must(TlsfAllocator::create_in(room.sub(0, bytes)), "make a heap");
        return run(OurTlsf{heap});
    });
    Case needed = session.measure("tlsf: heap needed / peak live, variable sizes", kTimesLive);
    needed.ours(known(ours.times_live, ours.region_bytes))
        .operations(1)
        .bar(ratio_at_most(kFragmentationBar));
    Case wasted = session.measure("tlsf: waste in blocks and control", kPercent);
    wasted.ours(known(our_waste_percent(workload, room.sub(0, ours.region_bytes)), ours.region_bytes))
        .operations(1)
        .bar(value_at_most(kWasteBarPercent));

    if (const TlsfPeer* peer = tlsf_peer(); peer != nullptr) {
        const Need classic = search_need(workload, [&](std::size_t bytes, auto run) {
            return run(ClassicHeap{peer, peer->create_with_pool(room.data, bytes)});
        });
        needed.peer("tlsf", "tlsf.h", known(classic.times_live, classic.region_bytes));
        const MemoryBlock region = room.sub(0, classic.region_bytes);
        wasted.peer("tlsf", "tlsf.h",
                    known(classic_waste_percent(workload, *peer, region), classic.region_bytes));
    } else {
        needed.missing_peer("tlsf", kHowToGetTlsf);
    }
    needed.note("the smallest region in which every step succeeds").run();
    wasted.run();
}

}  // namespace ouro::bench
