#include <ouro/os/thread.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <gtest/gtest.h>

namespace {

using ouro::Status;
using ouro::os::Thread;
namespace os = ouro::os;

TEST(Thread, RunsAndJoins) {
    int value = 0;
    auto thread =
        Thread::start([](void* argument) { *static_cast<int*>(argument) = 42; }, &value, {.name = "worker"});
    ASSERT_TRUE(thread);
    EXPECT_TRUE(thread->is_joinable());
    thread->join();
    EXPECT_FALSE(thread->is_joinable());
    EXPECT_EQ(value, 42);
}

struct Counter {
    std::atomic<std::uint32_t> atomic_count{0};
    std::array<std::uint64_t, 8> ids{};
    std::atomic<std::uint32_t> arrived{0};

    void run() {
        ids[arrived.fetch_add(1)] = os::this_thread_id();
        // All are alive at once, so that their ids must differ.
        while (arrived.load() != ids.size())
            os::yield_thread();
        for (int i = 0; i < 10000; ++i)
            atomic_count.fetch_add(1, std::memory_order_relaxed);
    }
};

TEST(Thread, ManyRunAtOnceAndAreDistinct) {
    Counter counter;
    std::array<Thread, 8> threads;
    for (Thread& thread : threads) {
        auto started =
            Thread::start([](void* argument) { static_cast<Counter*>(argument)->run(); }, &counter);
        ASSERT_TRUE(started);
        thread = *std::move(started);
    }
    for (Thread& thread : threads)
        thread.join();
    EXPECT_EQ(counter.atomic_count.load(), 80000U);
    for (std::size_t i = 0; i < counter.ids.size(); ++i) {
        EXPECT_NE(counter.ids[i], 0U);
        EXPECT_NE(counter.ids[i], os::this_thread_id());
        for (std::size_t j = 0; j < i; ++j)
            EXPECT_NE(counter.ids[i], counter.ids[j]);
    }
}

TEST(Thread, TakesAStackSizeAndOneAfterAnother) {
    for (int round = 0; round < 20; ++round) {
        int value = 0;
        auto thread = Thread::start(
            [](void* argument) {
                volatile char room[100'000];
                room[0] = 1;
                room[99'999] = 2;
                *static_cast<int*>(argument) = room[0] + room[99'999];
            },
            &value, {.stack_bytes = 300'001});
        ASSERT_TRUE(thread);
        thread->join();
        EXPECT_EQ(value, 3);
    }
}

TEST(Thread, RefusesWhatCannotRun) {
    EXPECT_EQ(Thread::start(nullptr, nullptr).status(), Status::bad_argument);
    const auto entry = [](void*) {};
    EXPECT_EQ(Thread::start(entry, nullptr, {.stack_bytes = SIZE_MAX}).status(), Status::bad_argument);
    EXPECT_EQ(Thread::start(entry, nullptr, {.core = 100'000}).status(), Status::bad_argument);
    EXPECT_EQ(os::pin_this_thread(100'000).status(), Status::bad_argument);
}

}  // namespace
