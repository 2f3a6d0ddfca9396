#include "harness/case.hpp"
#include "harness/must.hpp"
#include "harness/peers.hpp"
#include "memory/collections/collection_suite.hpp"
#include "memory/collections/counted_memory.hpp"

#include <ouro/memory/collections/ring_buffer.hpp>
#include <ouro/memory/collections/spsc_ring.hpp>
#include <ouro/os/thread.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

namespace ouro::bench {
namespace {

constexpr std::size_t kCapacity = 1000;
using CountedDeque = std::deque<std::uint64_t, CountedAllocator<std::uint64_t>>;

void measure_fifo(Session& session) {
    CountedResource ours;
    MemoryCount theirs;
    auto ring = must(RingBuffer<std::uint64_t>::create(ours, kCapacity), "make a ring");
    CountedDeque deque{CountedAllocator<std::uint64_t>(theirs)};
    for (std::uint64_t i = 0; i < kCapacity / 2; ++i) {
        (void)ring.push_back(i);
        deque.push_back(i);
    }
    session.measure("ring: push and pop", kNanoseconds)
        .ours([&](Round& round) {
            std::uint64_t sum = 0;
            round.time([&] {
                for (std::uint64_t i = 0; i < round.operations(); ++i) {
                    (void)ring.push_back(i);
                    sum += *ring.pop_front();
                }
            });
            keep(sum);
            round.use_memory(ours.count().peak_bytes);
        })
        .peer("std::deque", standard_library_version(),
              [&](Round& round) {
                  std::uint64_t sum = 0;
                  round.time([&] {
                      for (std::uint64_t i = 0; i < round.operations(); ++i) {
                          deque.push_back(i);
                          sum += deque.front();
                          deque.pop_front();
                      }
                  });
                  keep(sum);
                  round.use_memory(theirs.peak_bytes);
              })
        .bar(ratio_at_most(1.0))
        .run();
}

template <class Container>
std::uint64_t sum_of(const Container& container) {
    std::uint64_t sum = 0;
    for (const std::uint64_t value : container)
        sum += value;
    return sum;
}

void measure_walk(Session& session) {
    CountedResource ours;
    auto ring = must(RingBuffer<std::uint64_t>::create(ours, kCapacity), "make a ring");
    std::deque<std::uint64_t> deque;
    for (std::uint64_t i = 0; i < kCapacity + kCapacity / 2; ++i)
        ring.push_back_overwriting(i);
    deque.assign(ring.begin(), ring.end());
    const Work peer = repeat([&](std::uint64_t) { return sum_of(deque); });
    session.measure("ring: walk 1000 with iterators", kNanoseconds)
        .ours(repeat([&](std::uint64_t) { return sum_of(ring); }))
        .peer("std::deque", standard_library_version(), peer)
        .bar(ratio_at_most(1.0))
        .run();
    session.measure("ring: walk 1000 by its two parts", kNanoseconds)
        .ours(repeat([&](std::uint64_t) {
            const auto parts = ring.parts();
            return sum_of(parts.first) + sum_of(parts.second);
        }))
        .peer("std::deque", standard_library_version(), peer)
        .bar(ratio_at_most(1.0))
        .run();
}

class LockedQueue {
public:
    bool push(std::uint64_t value) {
        const std::lock_guard lock(mutex_);
        if (queue_.size() == kCapacity) return false;
        queue_.push_back(value);
        return true;
    }
    bool pop(std::uint64_t& value) {
        const std::lock_guard lock(mutex_);
        if (queue_.empty()) return false;
        value = queue_.front();
        queue_.pop_front();
        return true;
    }

private:
    std::mutex mutex_;
    std::deque<std::uint64_t> queue_;
};

class LockFreeQueue {
public:
    bool push(std::uint64_t value) { return ring_.push(value) == Status::ok; }
    bool pop(std::uint64_t& value) {
        const auto popped = ring_.pop();
        if (popped) value = *popped;
        return popped.has_value();
    }

private:
    CountedResource memory_;
    SpscRing<std::uint64_t> ring_ = must(SpscRing<std::uint64_t>::create(memory_, kCapacity), "make a ring");
};

// All messages from one thread to another.
template <class Queue>
Work hand_over(Queue& queue) {
    return [&queue](Round& round) {
        std::uint64_t sum = 0;
        const std::uint64_t count = round.operations();
        round.time([&] {
            std::thread producer([&] {
                for (std::uint64_t i = 0; i < count; ++i)
                    while (!queue.push(i))
                        os::yield_thread();
            });
            for (std::uint64_t received = 0; received < count;) {
                std::uint64_t value = 0;
                if (queue.pop(value)) {
                    sum += value;
                    ++received;
                } else {
                    os::yield_thread();
                }
            }
            producer.join();
        });
        round.check(sum);
    };
}

// The queue alone, without the traffic between cores.
template <class Queue>
Work push_and_pop(Queue& queue) {
    return repeat([&queue](std::uint64_t i) {
        std::uint64_t value = 0;
        (void)queue.push(i);
        (void)queue.pop(value);
        return value;
    });
}

void measure_threads(Session& session) {
    LockFreeQueue ours;
    LockedQueue peer;
    session.measure("spsc ring: push and pop, one thread", kNanoseconds)
        .ours(push_and_pop(ours))
        .peer("mutex and deque", standard_library_version(), push_and_pop(peer))
        .bar(ratio_at_most(0.5))
        .run();
    session.measure("spsc ring: thread to thread", kNanoseconds)
        .ours(hand_over(ours))
        .peer("mutex and deque", standard_library_version(), hand_over(peer))
        .operations(session.sized(300'000, 3'000))
        .on_any_core()
        .bar(ratio_at_most(1.0))
        .run();
}

}  // namespace

void measure_rings(Session& session) {
    measure_fifo(session);
    measure_walk(session);
    measure_threads(session);
}

}  // namespace ouro::bench
