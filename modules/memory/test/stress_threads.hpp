#pragma once

#include <ouro/memory/memory_resource.hpp>
#include <ouro/os/clock.hpp>
#include <ouro/os/thread.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

// Producers and consumers on cores of their own: what stress tests share. A role is whatever has a run().
namespace ouro::testing_support {

template <class Role>
[[nodiscard]] os::Thread start_on_core(Role& role, std::size_t core) {
    auto thread =
        os::Thread::start([](void* argument) { static_cast<Role*>(argument)->run(); }, &role,
                          {.name = "stress", .core = static_cast<unsigned>(core) % os::core_count()});
    EXPECT_TRUE(thread);
    return thread ? *std::move(thread) : os::Thread();
}

// Runs them all to their end.
template <class Producers, class Consumers>
void run_on_cores(Producers& producers, Consumers& consumers) {
    std::vector<os::Thread> threads;
    std::size_t core = 0;
    for (const auto& producer : producers)
        threads.push_back(start_on_core(*producer, core++));
    for (auto& consumer : consumers)
        threads.push_back(start_on_core(consumer, core++));
    for (os::Thread& thread : threads)
        thread.join();
}

// How long a stress goes on at least, without and with OURO_TEST_LONG.
struct RunTime {
    std::uint64_t usual_ns = 0;
    std::uint64_t long_ns = 0;
};

// Calls work() until enough() says so and the time is over.
template <class Enough, class Work>
void work_until(Enough enough, const RunTime& time, Work work) {
    const bool is_long = std::getenv("OURO_TEST_LONG") != nullptr;
    const std::uint64_t end_ns = os::monotonic_ns() + (is_long ? time.long_ns : time.usual_ns);
    while (!enough() || os::monotonic_ns() < end_ns)
        work();
}

// Empties the lane of each source until all producers were done before that. `drain` returns whether there
// was something.
template <class Sources, class Drain>
void drain_until_done(const Sources& sources, Drain drain) {
    for (bool all_done = false; !all_done;) {
        all_done = true;
        for (const auto& [producer, lane] : sources) {
            // Asked before the lane is emptied, so that what was sent last is not missed.
            const bool is_done = producer->is_done.load(std::memory_order_acquire);
            all_done = all_done && is_done;
            if (!drain(*producer, *lane)) os::yield_thread();
        }
    }
}

// A lane for each pair of a producer and a consumer. Both know it: the producer in its lanes, the consumer
// with the producer in its sources.
template <class Lane, class Producer, class Consumers>
void connect(Producer& producer, Consumers& consumers, MemoryResource& memory, std::size_t lane_places,
             std::vector<std::unique_ptr<Lane>>& lanes) {
    for (auto& consumer : consumers) {
        auto lane = Lane::create(memory, lane_places);
        ASSERT_TRUE(lane);
        lanes.push_back(std::make_unique<Lane>(*std::move(lane)));
        producer.lanes.push_back(lanes.back().get());
        consumer.sources.emplace_back(&producer, lanes.back().get());
    }
}

}  // namespace ouro::testing_support
