// A heap alone, and the same heap behind a ChargedAllocator.
#include "harness/case.hpp"
#include "harness/must.hpp"
#include "memory/object_checks.hpp"
#include "observe/observe_suite.hpp"

#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/tagged_allocator.hpp>
#include <ouro/observe/budget.hpp>
#include <ouro/observe/charged_allocator.hpp>
#include <ouro/observe/default_tags.hpp>
#include <ouro/observe/ledger.hpp>
#include <ouro/os/thread.hpp>

#include <array>
#include <atomic>
#include <string>
#include <vector>

namespace ouro::bench {
namespace {

// With what is behind each block it just fits the class, so that both heaps hand out blocks of one size.
constexpr std::size_t kObject = 60;
constexpr std::size_t kBatch = 256;

// Charging that is compiled out is no more than a pointer to the heap, and is held as such.
struct CompiledOut {
    ChargedAllocator<SmallObjectAllocator, false> charged;

    auto* operator->() { return &charged; }
};

enum class Timed : unsigned char { allocations, frees, both };

// Batches of allocations, then of frees; the objects are written, as their users would. A function of its own
// for each heap: what surrounds it has no part in where its loops lie.
template <class Heap>
[[gnu::noinline]] void run_batch(const Heap& heap, std::array<std::byte*, kBatch>& objects, Round* round,
                                 Timed timed) {
    // A copy, which no store to an object can change: whatever stands for the heap is read once a batch.
    Heap own = heap;
    const auto allocate = [&] {
        for (std::byte*& object : objects) {
            object = own->allocate(kObject, kDefaultAlignment)->data;
            stamp(object);
        }
    };
    const auto free = [&] {
        for (std::size_t i = kBatch; i-- != 0;)
            own->deallocate({objects[i], kObject}, kDefaultAlignment);
    };
    if (round != nullptr && timed == Timed::allocations) {
        round->time(allocate);
    } else {
        allocate();
    }
    if (round != nullptr && timed == Timed::frees) {
        round->time(free);
    } else {
        free();
    }
}

template <class Heap>
Work batches(Heap owner, Timed timed) {
    return [owner, timed](Round& round) {
        Heap heap = owner;
        std::array<std::byte*, kBatch> objects{};
        run_batch(heap, objects, nullptr, timed);
        if (timed == Timed::both) {
            round.time([&] {
                for (std::uint64_t done = 0; done < round.operations(); done += kBatch)
                    run_batch(heap, objects, nullptr, timed);
            });
        } else {
            for (std::uint64_t done = 0; done < round.operations(); done += kBatch)
                run_batch(heap, objects, &round, timed);
        }
        round.check(1);
    };
}

// Most objects are looked at by their owner before they go: by a destructor, for one.
enum class Look : unsigned char { before_free, not_at_all };

// Random objects of many are freed and allocated again: ns a pair.
template <class Heap>
Work churn(Heap owner, std::size_t live, Look look) {
    return [owner, live, look](Round& round) {
        Heap heap = owner;
        std::uint64_t sound = 0;
        std::vector<std::byte*> objects(live);
        for (std::byte*& object : objects)
            stamp(object = heap->allocate(kObject, kDefaultAlignment)->data);
        Lottery lottery(11);
        round.time([&] {
            for (std::uint64_t done = 0; done < round.operations(); ++done) {
                std::byte*& object = objects[lottery.below(live)];
                if (look == Look::before_free) sound += has_stamp(object) ? 1U : 0U;
                heap->deallocate({object, kObject}, kDefaultAlignment);
                stamp(object = heap->allocate(kObject, kDefaultAlignment)->data);
            }
        });
        for (std::byte* object : objects)
            heap->deallocate({object, kObject}, kDefaultAlignment);
        round.check(look == Look::before_free ? sound : 0);
    };
}

// Each allocation makes a new peak.
template <class Heap>
Work climb(Heap owner) {
    return [owner](Round& round) {
        Heap heap = owner;
        std::array<std::byte*, kBatch> objects{};
        for (std::uint64_t done = 0; done < round.operations(); done += kBatch) {
            reset_peaks();
            run_batch(heap, objects, &round, Timed::allocations);
        }
        round.check(1);
    };
}

// A second thread does the same while the first is measured: threads that share a counter wait for each
// other.
template <class Heap>
Work beside_another(Heap heap) {
    return [heap](Round& round) {
        struct Other {
            Heap heap;
            std::atomic<bool> is_over = false;
        } other{heap};
        auto thread = must(os::Thread::start(
                               [](void* argument) {
                                   auto& own = *static_cast<Other*>(argument);
                                   const TagScope scope(default_tags().creatures);
                                   std::array<std::byte*, kBatch> objects{};
                                   while (!own.is_over.load(std::memory_order_relaxed))
                                       run_batch(own.heap, objects, nullptr, Timed::both);
                               },
                               &other),
                           "start a thread");
        batches(heap, Timed::both)(round);
        other.is_over.store(true, std::memory_order_relaxed);
        thread.join();
    };
}

// Requests that a budget refuses, under the current tag.
template <class Heap>
Work refusals(Heap owner) {
    return [owner](Round& round) {
        Heap heap = owner;
        std::uint64_t refused = 0;
        round.time([&] {
            for (std::uint64_t done = 0; done < round.operations(); ++done)
                refused += heap->allocate(kObject, kDefaultAlignment) ? 0U : 1U;
        });
        round.check(refused == round.operations() ? 1 : 0);
    };
}

using Charged = ChargedAllocator<SmallObjectAllocator, true>;

void measure_refusals(Session& session, Charged& charged, SmallObjectAllocator& heap) {
    const Tag tag = must(register_tag("full", default_tags().game), "register a tag");
    const TagScope scope(tag);
    TaggedAllocator one_counter(heap, {.tag = tag, .budget_bytes = kObject + 1});
    const auto blocks = {must(charged.allocate(kObject, kDefaultAlignment), "allocate"),
                         must(one_counter.allocate(kObject, kDefaultAlignment), "allocate")};
    must(set_budget(tag, {.hard_bytes = kObject + 1}), "set a budget");
    session.measure("charged: refused by a budget", kNanoseconds)
        .ours(refusals(&charged))
        .peer("one counter for all", "TaggedAllocator", refusals(&one_counter))
        .note("with what the refusal leaves behind: counts and, now and then, an event")
        .median()
        .run();
    must(set_budget(tag, {}), "clear a budget");
    charged.deallocate(blocks.begin()[0], kDefaultAlignment);
    one_counter.deallocate(blocks.begin()[1], kDefaultAlignment);
}

void measure_peaks(Session& session, Charged& charged, SmallObjectAllocator& heap) {
    session.measure("charged: allocate 60 B, each a new peak", kNanoseconds)
        .ours(climb(&charged))
        .peer("the heap alone", "this tree", climb(&heap))
        .note("counted in one place, to the byte, at three levels")
        .median()
        .run();
}

void measure_threads(Session& session, Charged& charged, SmallObjectAllocator& heap) {
    TaggedAllocator one_counter(heap, {.tag = default_tags().creatures});
    session.measure("charged: pair, two threads", kNanoseconds)
        .ours(beside_another(&charged))
        .peer("one counter for all", "TaggedAllocator", beside_another(&one_counter))
        .peer("the heap alone", "this tree", beside_another(&heap))
        .median()
        .on_any_core()
        .run();
}

}  // namespace

void measure_charges(Session& session) {
    auto heap = must(SmallObjectAllocator::create({.name = "benchmark"}), "make a heap");
    const DefaultTags& tags = default_tags();
    // Budgets at all three levels, with room.
    for (const Tag tag : {tags.creatures, tags.game, Tag{}})
        must(set_budget(tag, {.soft_bytes = std::size_t{900} << 20, .hard_bytes = std::size_t{1} << 30}),
             "set a budget");
    const TagScope scope(tags.creatures);
    Charged charged(heap);

    constexpr double kMostAddedNs = 3;
    const auto measure_part = [&](const std::string& name, Timed timed) {
        session.measure("charged: " + name, kNanoseconds)
            .ours(batches(&charged, timed))
            .peer("the heap alone", "this tree", batches(&heap, timed))
            .bar(difference_at_most(kMostAddedNs))
            .median()
            .run();
    };
    measure_part("allocate 60 B", Timed::allocations);
    measure_part("free 60 B", Timed::frees);
    const auto measure_churn = [&](std::size_t live, Look look, const std::string& name) {
        Case row = session.measure("charged: churn, " + std::to_string(live) + " live" + name, kNanoseconds)
                       .ours(churn(&charged, live, look))
                       .peer("the heap alone", "this tree", churn(&heap, live, look))
                       .note("a pair: one allocation, one free");
        if (look == Look::before_free) row.bar(difference_at_most(2 * kMostAddedNs));
        row.median().run();
    };
    measure_churn(1'000, Look::before_free, "");
    measure_churn(100'000, Look::before_free, "");
    measure_churn(100'000, Look::not_at_all, ", freed unseen");
    measure_peaks(session, charged, heap);
    measure_refusals(session, charged, heap);
    measure_threads(session, charged, heap);
    session.measure("charged: compiled out, pair", kNanoseconds)
        .ours(batches(CompiledOut{ChargedAllocator<SmallObjectAllocator, false>(heap)}, Timed::both))
        .peer("the heap alone", "this tree", batches(&heap, Timed::both))
        .bar(ratio_at_most(1.05))
        .median()
        .run();
    for (const Tag tag : {tags.creatures, tags.game, Tag{}})
        must(set_budget(tag, {}), "clear a budget");
}

}  // namespace ouro::bench
