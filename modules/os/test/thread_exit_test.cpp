#include <ouro/os/thread.hpp>
#include <ouro/os/thread_exit.hpp>

#include <array>
#include <atomic>
#include <cstdint>

#include <gtest/gtest.h>

namespace {

using ouro::Status;
using ouro::os::Thread;
namespace os = ouro::os;

// Keys are for the life of the process, so the tests share two.
struct Seen {
    std::atomic<std::uint32_t> calls{0};
    std::atomic<std::uint32_t> set_again{0};
    std::atomic<std::uint32_t> refused{0};
    std::atomic<std::uint64_t> thread_id{0};
};

os::ThreadExitKey counting_key() {
    static const auto key = os::make_thread_exit_key([](void* value) {
        auto& seen = *static_cast<Seen*>(value);
        seen.calls.fetch_add(1);
        seen.thread_id = os::this_thread_id();
        if (seen.set_again.load() == 0) return;
        seen.set_again.fetch_sub(1);
        const Status status = os::set_thread_exit_value(counting_key(), value).status();
        EXPECT_TRUE(status == Status::ok || status == Status::capacity_exhausted);
        seen.refused.fetch_add(status == Status::ok ? 0 : 1);
    });
    return key ? *key : os::ThreadExitKey{};
}

void run_thread(void (*entry)(void*), void* argument) {
    auto thread = Thread::start(entry, argument);
    ASSERT_TRUE(thread);
    thread->join();
}

TEST(ThreadExit, TheHookRunsOnTheEndingThread) {
    static Seen seen;
    std::uint64_t id = 0;
    run_thread(
        [](void* out) {
            *static_cast<std::uint64_t*>(out) = os::this_thread_id();
            EXPECT_EQ(os::thread_exit_value(counting_key()), nullptr);
            EXPECT_TRUE(os::set_thread_exit_value(counting_key(), &seen));
            EXPECT_EQ(os::thread_exit_value(counting_key()), &seen);
            EXPECT_EQ(seen.calls.load(), 0U);
        },
        &id);
    EXPECT_EQ(seen.calls.load(), 1U);
    EXPECT_EQ(seen.thread_id.load(), id);
    EXPECT_EQ(os::thread_exit_value(counting_key()), nullptr);
}

TEST(ThreadExit, AValueTakenBackIsNotReported) {
    Seen seen;
    run_thread(
        [](void* value) {
            EXPECT_TRUE(os::set_thread_exit_value(counting_key(), value));
            EXPECT_TRUE(os::set_thread_exit_value(counting_key(), nullptr));
        },
        &seen);
    EXPECT_EQ(seen.calls.load(), 0U);
}

TEST(ThreadExit, AThreadThatSetNothingEndsInSilence) {
    Seen seen;
    run_thread([](void*) {}, &seen);
    EXPECT_EQ(seen.calls.load(), 0U);
}

TEST(ThreadExit, AValueSetAgainIsCalledAgainForSomeRounds) {
    Seen seen;
    seen.set_again = os::kThreadExitRounds - 1;
    run_thread([](void* value) { EXPECT_TRUE(os::set_thread_exit_value(counting_key(), value)); }, &seen);
    EXPECT_EQ(seen.calls.load(), os::kThreadExitRounds);
    EXPECT_EQ(seen.refused.load(), 0U);
    // One that never comes to an end is told so, and left alone.
    Seen endless;
    endless.set_again = 1'000'000;
    run_thread([](void* value) { EXPECT_TRUE(os::set_thread_exit_value(counting_key(), value)); }, &endless);
    EXPECT_EQ(endless.calls.load(), os::kThreadExitRounds);
    EXPECT_EQ(endless.refused.load(), 1U);
}

TEST(ThreadExit, ManyThreadsEachHaveTheirOwnValue) {
    static std::array<Seen, 8> seen;
    for (int round = 0; round < 10; ++round) {
        std::array<Thread, 8> threads;
        for (std::size_t i = 0; i < threads.size(); ++i) {
            auto started = Thread::start(
                [](void* value) { EXPECT_TRUE(os::set_thread_exit_value(counting_key(), value)); }, &seen[i]);
            ASSERT_TRUE(started);
            threads[i] = *std::move(started);
        }
        for (Thread& thread : threads)
            thread.join();
    }
    for (const Seen& each : seen)
        EXPECT_EQ(each.calls.load(), 10U);
}

TEST(ThreadExit, BadKeysAreRefused) {
    EXPECT_EQ(os::make_thread_exit_key(nullptr).status(), Status::bad_argument);
    int value = 0;
    EXPECT_EQ(os::set_thread_exit_value({}, &value).status(), Status::bad_argument);
    EXPECT_EQ(os::set_thread_exit_value({os::kMaxThreadExitKeys + 1}, &value).status(), Status::bad_argument);
}

}  // namespace
