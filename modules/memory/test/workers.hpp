#pragma once

#include <ouro/os/thread.hpp>

#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace ouro::testing_support {

// Runs work(0) to work(count - 1) on threads of their own, all started before the first begins, and waits for
// them.
template <class Work>
void run_workers(std::size_t count, Work work) {
    struct Order {
        Work* work;
        std::atomic<std::size_t>* waiting;
        std::size_t number;
    };
    std::atomic<std::size_t> waiting{count};
    std::vector<Order> orders;
    for (std::size_t i = 0; i < count; ++i)
        orders.push_back({&work, &waiting, i});
    std::vector<os::Thread> threads;
    for (Order& order : orders) {
        auto started = os::Thread::start(
            [](void* argument) {
                const Order& own = *static_cast<Order*>(argument);
                own.waiting->fetch_sub(1);
                while (own.waiting->load() != 0)
                    os::yield_thread();
                (*own.work)(own.number);
            },
            &order);
        if (!started) {
            ADD_FAILURE() << "cannot start a thread";
            waiting.fetch_sub(1);
            continue;
        }
        threads.push_back(*std::move(started));
    }
    for (os::Thread& thread : threads)
        thread.join();
}

}  // namespace ouro::testing_support
