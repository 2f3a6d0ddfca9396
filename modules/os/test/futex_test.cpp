#include <ouro/os/futex.hpp>
#include <ouro/os/thread.hpp>

#include <atomic>
#include <cstdint>

#include <gtest/gtest.h>

namespace {

using ouro::os::Thread;
using ouro::os::WaitOutcome;
namespace os = ouro::os;

TEST(Futex, DoesNotSleepOnAChangedWord) {
    const std::atomic<std::uint32_t> word{1};
    EXPECT_EQ(os::wait_on(word, 0), WaitOutcome::changed);
}

TEST(Futex, TimesOut) {
    const std::atomic<std::uint32_t> word{0};
    EXPECT_EQ(os::wait_on(word, 0, 1'000'000), WaitOutcome::timed_out);
    EXPECT_EQ(os::wait_on(word, 0, 0), WaitOutcome::timed_out);
}

TEST(Futex, WakingNobodyIsFine) {
    const std::atomic<std::uint32_t> word{0};
    EXPECT_EQ(os::wake_one(word), 0U);
    EXPECT_EQ(os::wake_all(word), 0U);
}

// Two threads hand a counter back and forth; each sleeps until it is its turn.
struct PingPong {
    static constexpr std::uint32_t kTurns = 2000;
    std::atomic<std::uint32_t> turn{0};
    std::uint32_t sum = 0;

    void play(std::uint32_t parity) {
        for (std::uint32_t next = parity; next < kTurns; next += 2) {
            for (;;) {
                const std::uint32_t now = turn.load(std::memory_order_acquire);
                if (now == next) break;
                os::wait_on(turn, now);
            }
            sum += next;
            turn.store(next + 1, std::memory_order_release);
            os::wake_all(turn);
        }
    }
};

TEST(Futex, HandsOverBetweenThreads) {
    PingPong game;
    auto other = Thread::start([](void* argument) { static_cast<PingPong*>(argument)->play(1); }, &game);
    ASSERT_TRUE(other);
    game.play(0);
    other->join();
    EXPECT_EQ(game.sum, PingPong::kTurns * (PingPong::kTurns - 1) / 2);
}

}  // namespace
