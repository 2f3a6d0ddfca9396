#include "harness/case.hpp"
#include "harness/must.hpp"
#include "harness/peers.hpp"
#include "memory/memory_suite.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/huge_page_arena.hpp>
#include <ouro/memory/partition_allocator.hpp>

#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ouro::bench {
namespace {

constexpr std::uint32_t kLiveObjects = 10'000;
constexpr std::uint32_t kBatch = 100;

// Objects that come and go at random: so many are freed, then as many allocated; ns per pair. Each object is
// written when it comes and read before it goes.
template <class Allocate, class Free>
class Churn {
public:
    Churn(Allocate allocate, Free free)
        : allocate_(allocate), free_(free), live_(kLiveObjects), order_(kLiveObjects) {
        for (auto*& object : live_)
            object = fresh(0);
        // Drawn beforehand, so that the loop is about memory: each batch is of different objects.
        Random random(1);
        for (std::uint32_t i = 0; i < kLiveObjects; ++i)
            order_[i] = i;
        for (std::uint32_t i = kLiveObjects; i > 1; --i)
            std::swap(order_[i - 1], order_[random.below(i)]);
    }
    ~Churn() {
        for (auto* object : live_)
            free_(object);
    }
    Churn(const Churn&) = delete;
    Churn& operator=(const Churn&) = delete;

    void run(Round& round) {
        std::uint64_t sum = 0;
        for (auto* object : live_)
            *object = 0;
        round.time([&] {
            for (std::uint64_t done = 0; done < round.operations(); done += kBatch) {
                const std::span<const std::uint32_t> chosen(&order_[done % kLiveObjects], kBatch);
                for (const std::uint32_t index : chosen) {
                    sum += *live_[index];
                    free_(live_[index]);
                }
                for (const std::uint32_t index : chosen)
                    live_[index] = fresh(static_cast<unsigned char>(done + index));
            }
        });
        round.check(sum);
    }

private:
    unsigned char* fresh(unsigned char value) {
        auto* object = static_cast<unsigned char*>(allocate_());
        *static_cast<volatile unsigned char*>(object) = value;
        return object;
    }

    Allocate allocate_;
    Free free_;
    std::vector<unsigned char*> live_;
    std::vector<std::uint32_t> order_;
};

void measure_churn(Session& session, Partition& partition, std::size_t size, const char* threads) {
    const std::size_t alignment = kDefaultAlignment;
    Churn ours([&, size] { return static_cast<void*>(partition.allocate(size, alignment)->data); },
               [&, size](unsigned char* object) {
                   partition.deallocate({reinterpret_cast<std::byte*>(object), size}, alignment);
               });
    Churn glibc([size] { return std::malloc(size); }, [](unsigned char* object) { std::free(object); });
    const std::size_t held = partition.stats().committed_bytes / kLiveObjects;
    session.measure("partition: churn " + std::to_string(size) + " B" + threads, kNanoseconds)
        .ours([&](Round& round) { ours.run(round); })
        .peer("malloc", libc_version(), [&](Round& round) { glibc.run(round); })
        .bar(ratio_at_most(1.0))
        .note("ours holds " + std::to_string(held) + " B an object, bookkeeping apart")
        .run();
}

std::string mib_text(std::size_t bytes) {
    return std::to_string(bytes >> 20) + " MiB";
}

std::string pages_text(const HugePageArena& arena) {
    const HugePageArena::Report report = arena.report();
    std::string text = "asked for reserved pages of " + std::to_string(report.huge_page_bytes >> 10) +
                       " KiB; got " + mib_text(report.reserved_bytes) + " reserved, " +
                       mib_text(report.transparent_bytes) + " transparent, " + mib_text(report.normal_bytes) +
                       " normal";
    if (report.downgrades != 0) text += " (" + std::string(status_name(report.last_reason)) + ")";
    return text;
}

// Each place read depends on the one before, as in walking a tree.
Work random_reads(const std::uint64_t* words, std::uint64_t count) {
    return repeat([=, place = std::uint64_t{1}](std::uint64_t i) mutable {
        if (i == 0) place = 1;
        place = place * 6364136223846793005U + 1442695040888963407U + words[(place >> 33) % count];
        return place;
    });
}

void measure_random_reads(Session& session) {
    const std::size_t bytes = session.sized(std::size_t{64} << 20, std::size_t{8} << 20);
    const auto make = [&](os::PageKind pages) {
        return must(HugePageArena::create({.max_bytes = bytes, .initial_bytes = bytes, .pages = pages}),
                    "make an arena");
    };
    auto huge = make(os::PageKind::reserved);
    auto normal = make(os::PageKind::normal);
    const auto fill = [&](HugePageArena& arena) {
        const MemoryBlock block = must(arena.allocate(bytes, 64), "fill the arena");
        std::memset(block.data, 0, block.size);
        return reinterpret_cast<const std::uint64_t*>(block.data);
    };
    session.measure("huge pages: random reads in " + size_name(bytes), kNanoseconds)
        .ours(random_reads(fill(huge), bytes / sizeof(std::uint64_t)))
        .peer("normal pages", "the same arena", random_reads(fill(normal), bytes / sizeof(std::uint64_t)))
        .note(pages_text(huge))
        .run();
}

}  // namespace

void measure_partitions(Session& session) {
    for (const std::size_t size : {std::size_t{16}, std::size_t{64}, std::size_t{256}}) {
        // One of its own a size, so that no run lives on what another left.
        const PartitionOptions parts[] = {{}, {.thread_safety = ThreadSafety::any_thread}};
        auto set = must(PartitionAllocator::create({.partitions = parts}), "make partitions");
        measure_churn(session, set[0], size, "");
        measure_churn(session, set[1], size, ", any thread");
    }
    measure_random_reads(session);
}

}  // namespace ouro::bench
