#include "harness/case.hpp"
#include "harness/must.hpp"
#include "harness/peers.hpp"
#include "memory/memory_suite.hpp"
#include "memory/tlsf_heaps.hpp"
#include "memory/variable_workload.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ouro::bench {
namespace {

constexpr std::size_t kRegionBytes = std::size_t{128} << 20;
constexpr std::size_t kLive = 10'000;
constexpr std::size_t kExchanged = 100;
constexpr std::size_t kBatch = 256;
constexpr double kTimeBar = 0.7;
constexpr const char* kHowToGetTlsf = "needs tlsf.h and its library, or tlsf.c beside it, under --peers";

// Which of the live objects each turn of the churn exchanges: different ones within a turn.
std::vector<std::uint32_t> record_churn(std::size_t turns) {
    std::vector<std::uint32_t> all(kLive);
    for (std::uint32_t i = 0; i < kLive; ++i)
        all[i] = i;
    Random random(1);
    std::vector<std::uint32_t> order;
    for (std::size_t turn = 0; turn < turns; ++turn) {
        for (std::size_t i = 0; i < kExchanged; ++i) {
            const auto other = i + random.below(static_cast<std::uint32_t>(kLive - i));
            std::swap(all[i], all[other]);
            order.push_back(all[i]);
        }
    }
    return order;
}

void* touch(void* block) {
    must(block != nullptr, "allocate");
    *static_cast<volatile unsigned char*>(block) = 1;
    return block;
}

// One operation frees an object and allocates one, a hundred of each at a time.
template <class Heap>
Work churn(Heap heap, std::size_t size, const std::vector<std::uint32_t>& order) {
    return [heap, size, &order](Round& round) {
        std::vector<void*> live(kLive);
        for (void*& object : live)
            object = touch(heap.allocate(size));
        std::uint64_t exchanged = 0;
        round.time([&] {
            for (std::size_t at = 0; exchanged < round.operations(); at = (at + kExchanged) % order.size()) {
                const std::span<const std::uint32_t> turn(&order[at], kExchanged);
                for (const std::uint32_t index : turn)
                    heap.free(live[index], size);
                for (const std::uint32_t index : turn)
                    live[index] = touch(heap.allocate(size));
                exchanged += kExchanged;
            }
        });
        for (void* object : live)
            heap.free(object, size);
        round.check(exchanged);
    };
}

template <class Heap>
Work last_in_first_out(Heap heap, std::size_t size) {
    return [heap, size](Round& round) {
        std::array<void*, kBatch> batch{};
        std::uint64_t done = 0;
        round.time([&] {
            for (; done < round.operations(); done += kBatch) {
                for (void*& object : batch)
                    object = touch(heap.allocate(size));
                for (std::size_t i = kBatch; i-- > 0;)
                    heap.free(batch[i], size);
            }
        });
        round.check(done);
    };
}

template <class Heap>
Work variable_sizes(Heap heap, const VariableWorkload& workload) {
    return [heap, &workload](Round& round) mutable {
        std::vector<void*> blocks;
        std::vector<std::uint32_t> sizes;
        std::size_t done = 0;
        round.time([&] { done = replay(workload, heap, blocks, sizes); });
        for (std::size_t slot = 0; slot < blocks.size(); ++slot) {
            if (blocks[slot] != nullptr) heap.free(blocks[slot], sizes[slot]);
        }
        round.check(done);
    };
}

struct Candidates {
    OurTlsf ours;
    const TlsfPeer* functions;
    void* classic_memory;

    // A fresh heap for each case, as ours has coalesced to one block again, too.
    template <class MakeWork>
    void measure(Session& session, const std::string& name, std::uint64_t operations, MakeWork make) const {
        Case row = session.measure(name, kNanoseconds);
        row.ours(make(ours));
        if (functions != nullptr) {
            void* heap = functions->create_with_pool(classic_memory, kRegionBytes);
            row.peer("tlsf", "tlsf.h", make(ClassicHeap{functions, heap}), ratio_at_most(kTimeBar));
        } else {
            row.missing_peer("tlsf", kHowToGetTlsf).bar(ratio_at_most(kTimeBar));
        }
        row.peer("malloc", libc_version(), make(GlibcHeap{}), ratio_at_most(1.0));
        if (operations != 0) row.operations(operations);
        row.run();
    }
};

}  // namespace

void measure_tlsf(Session& session) {
    auto memory = must(FrameAllocator::create({.max_bytes = 2 * kRegionBytes}), "make room");
    const MemoryBlock ours = must(memory.allocate(kRegionBytes, 4096), "make room");
    const MemoryBlock classic = must(memory.allocate(kRegionBytes, 4096), "make room");
    must(os::prefault(ours), "prefault");
    must(os::prefault(classic), "prefault");
    auto heap = must(TlsfAllocator::create_in(ours), "make a heap");
    const Candidates candidates{{heap}, tlsf_peer(), classic.data};

    const std::vector<std::uint32_t> order = record_churn(session.sized(2000, 20));
    for (const std::size_t size : {std::size_t{16}, std::size_t{64}, std::size_t{256}}) {
        const std::string label = std::to_string(size) + " B";
        candidates.measure(session, "tlsf: churn, " + label, 0,
                           [&](auto candidate) { return churn(candidate, size, order); });
        candidates.measure(session, "tlsf: LIFO batches of 256, " + label, 0,
                           [&](auto candidate) { return last_in_first_out(candidate, size); });
    }
    const std::uint64_t steps = session.sized(300'000, 5'000);
    const auto workload = VariableWorkload::record(1, steps, steps / 2, session.sized(70'000'000, 700'000));
    candidates.measure(session, "tlsf: variable sizes, 256 B to 64 KiB", steps,
                       [&](auto candidate) { return variable_sizes(candidate, workload); });
    must(heap.check() == Status::ok, "verify the heap");
}

}  // namespace ouro::bench
