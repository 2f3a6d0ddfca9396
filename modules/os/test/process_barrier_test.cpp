#include <ouro/os/capabilities.hpp>
#include <ouro/os/process_barrier.hpp>
#include <ouro/os/thread.hpp>

#include <array>
#include <atomic>
#include <cstdint>

#include <gtest/gtest.h>

namespace {

using ouro::Status;
namespace os = ouro::os;

TEST(ProcessBarrier, AnswersAsTheReportSays) {
    const bool available = os::process_barrier_available();
    EXPECT_EQ(available, os::query_capabilities().process_barrier);
    EXPECT_EQ(os::process_barrier().status(), available ? Status::ok : Status::not_supported);
}

constexpr std::uint32_t kRounds = 5'000;
// How often a side may give up its core before both leave it at that: on a busy machine they hardly ever
// meet, and each wait is long.
constexpr std::uint32_t kMostGivenUp = 200;

// Each of two threads writes its own word and then reads the other's. With a full fence between the two in
// each of them, at least one sees the other's write; here only one side pays, and the other is kept in order
// against the compiler alone.
struct Encounter {
    alignas(64) std::atomic<std::uint32_t> fast_word{0};
    alignas(64) std::atomic<std::uint32_t> slow_word{0};
    alignas(64) std::atomic<std::uint32_t> fast_round{0};
    alignas(64) std::atomic<std::uint32_t> slow_round{0};
    std::array<std::uint32_t, kRounds + 1> fast_saw{};
    // Set by the slow side, before it comes to that round.
    std::atomic<std::uint32_t> last_round{kRounds};
    std::uint32_t misses = 0;

    // Spins first: a thread that gives up its core comes back too late to meet the other in the act.
    // Returns whether it gave up.
    static bool await(const std::atomic<std::uint32_t>& word, std::uint32_t round) {
        constexpr unsigned kMostSpins = 2000;
        unsigned spins = 0;
        for (; word.load() < round; ++spins) {
            if (spins > kMostSpins) os::yield_thread();
        }
        return spins > kMostSpins;
    }

    static bool meet(std::atomic<std::uint32_t>& mine, const std::atomic<std::uint32_t>& other,
                     std::uint32_t round) {
        mine.store(round);
        return await(other, round);
    }

    // The slow side comes last and knows first that both are there: it lets the other catch up, by more steps
    // or fewer, so that now and then both write and read at the same moment.
    static void lose_some_time(std::uint32_t round) {
        for (volatile std::uint32_t steps = round % 256; steps != 0;)
            steps = steps - 1;
    }

    void run_fast() {
        std::uint32_t round = 1;
        for (; round <= last_round.load(); ++round) {
            (void)meet(fast_round, slow_round, round);
            fast_word.store(round, std::memory_order_relaxed);
            std::atomic_signal_fence(std::memory_order_seq_cst);
            fast_saw[round] = slow_word.load(std::memory_order_relaxed);
        }
        fast_round.store(round);
    }

    void run_slow() {
        std::uint32_t given_up = 0;
        for (std::uint32_t round = 1; round <= last_round.load(); ++round) {
            if (given_up >= kMostGivenUp) last_round.store(round);
            given_up += meet(slow_round, fast_round, round) ? 1U : 0U;
            lose_some_time(round);
            slow_word.store(round, std::memory_order_relaxed);
            [[maybe_unused]] const auto ordered = os::process_barrier();
            const std::uint32_t saw = fast_word.load(std::memory_order_relaxed);
            // The fast side has finished the round when it arrives at the next.
            given_up += await(fast_round, round + 1) ? 1U : 0U;
            misses += saw < round && fast_saw[round] < round ? 1U : 0U;
        }
    }
};

TEST(ProcessBarrier, OrdersAThreadThatHasNoFence) {
    if (!os::process_barrier_available()) GTEST_SKIP() << "needs process_barrier";
    static Encounter encounter;
    // On different cores, where there are several: on one nobody would ever miss anything.
    auto fast = os::Thread::start([](void* argument) { static_cast<Encounter*>(argument)->run_fast(); },
                                  &encounter, {.core = os::core_count() - 1});
    auto slow = os::Thread::start([](void* argument) { static_cast<Encounter*>(argument)->run_slow(); },
                                  &encounter, {.core = 0});
    ASSERT_TRUE(fast && slow);
    fast->join();
    slow->join();
    EXPECT_EQ(encounter.misses, 0U);
}

}  // namespace
