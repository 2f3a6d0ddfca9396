#include "host.hpp"
#include "workers.hpp"

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace {

constexpr int kWorkers = 4;

TEST(Threads, ContendedAtomicsAddUp) {
    constexpr int kSteps = 1'000'000;
    std::atomic<std::uint32_t> small{0};
    std::atomic<std::uint64_t> large{0};
    std::atomic<std::uint8_t> tiny{0};
    ASSERT_EQ(Workers::run(kWorkers,
                           [&](int) {
                               for (int i = 0; i < kSteps; ++i) {
                                   small.fetch_add(1, std::memory_order_relaxed);
                                   large.fetch_add(0x1'0000'0001, std::memory_order_relaxed);
                                   tiny.fetch_xor(1, std::memory_order_relaxed);
                               }
                           }),
              0);
    EXPECT_EQ(small.load(), static_cast<std::uint32_t>(kWorkers * kSteps));
    EXPECT_EQ(large.load(), 0x1'0000'0001 * static_cast<std::uint64_t>(kWorkers * kSteps));
    EXPECT_EQ(tiny.load(), 0);
}

thread_local int tls_value = 7;
alignas(64) thread_local unsigned char tls_aligned[64];

TEST(Threads, ThreadLocalsAreTheirOwnAndStartFromTheirInitialiser) {
    tls_value = 1;
    std::atomic<int> wrong{0};
    std::atomic<int> arrived{0};
    std::uintptr_t addresses[kWorkers] = {};
    ASSERT_EQ(Workers::run(kWorkers,
                           [&](int index) {
                               if (tls_value != 7) ++wrong;
                               if (reinterpret_cast<std::uintptr_t>(tls_aligned) % 64 != 0) ++wrong;
                               tls_value = 100 + index;
                               addresses[index] = reinterpret_cast<std::uintptr_t>(&tls_value);
                               // All are alive at once: nobody may see another's write.
                               ++arrived;
                               while (arrived.load() != kWorkers) {
                               }
                               if (tls_value != 100 + index) ++wrong;
                           }),
              0);
    EXPECT_EQ(wrong.load(), 0);
    EXPECT_EQ(tls_value, 1);
    EXPECT_EQ(std::set<std::uintptr_t>(std::begin(addresses), std::end(addresses)).size(),
              static_cast<std::size_t>(kWorkers));
}

TEST(Threads, EveryThreadHasItsOwnId) {
    std::uint32_t ids[kWorkers] = {};
    ASSERT_EQ(Workers::run(kWorkers, [&](int index) { ids[index] = ouro_wasm_thread_current_id(); }), 0);
    std::set<std::uint32_t> distinct(std::begin(ids), std::end(ids));
    EXPECT_EQ(distinct.size(), static_cast<std::size_t>(kWorkers));
    EXPECT_EQ(ouro_wasm_thread_current_id(), 1u);
    EXPECT_EQ(distinct.count(1), 0u);
}

std::atomic<int> destroyed{0};
struct CountsItsEnd {
    int value = 1;
    ~CountsItsEnd() { destroyed.fetch_add(value); }
};
thread_local CountsItsEnd ends_with_thread;

TEST(Threads, ThreadLocalDestructorsRunBeforeJoinReturns) {
    destroyed = 0;
    ASSERT_EQ(Workers::run(kWorkers, [](int) { ends_with_thread.value = 1; }), 0);
    EXPECT_EQ(destroyed.load(), kWorkers);
}

TEST(Waiting, WaitAndNotifyCrossThreads) {
    std::uint32_t word = 0;
    std::uint32_t answer = 0;
    ASSERT_EQ(Workers::run(2,
                           [&](int index) {
                               std::atomic_ref turn(index == 0 ? word : answer);
                               std::atomic_ref other(index == 0 ? answer : word);
                               for (std::uint32_t round = 1; round <= 200; ++round) {
                                   if (index == 0) {
                                       other.store(round);
                                       ouro_wasm_notify(&answer, 1);
                                   }
                                   std::uint32_t* mine = index == 0 ? &word : &answer;
                                   while (turn.load() < round)
                                       ouro_wasm_wait32(mine, round - 1, -1);
                                   if (index == 1) {
                                       other.store(round);
                                       ouro_wasm_notify(&word, 1);
                                   }
                               }
                           }),
              0);
    EXPECT_EQ(word, 200u);
    EXPECT_EQ(answer, 200u);
}

TEST(Waiting, WaitTellsWhyItReturned) {
    std::uint32_t word = 5;
    EXPECT_EQ(ouro_wasm_wait32(&word, 4, -1), 1);
    EXPECT_EQ(ouro_wasm_wait32(&word, 5, 1'000'000), 2);
    EXPECT_EQ(ouro_wasm_notify(&word, 1), 0u);
}

template <typename T>
class AtomicWait : public testing::Test {};
using WaitedTypes = testing::Types<std::uint8_t, std::uint32_t, std::int64_t>;
TYPED_TEST_SUITE(AtomicWait, WaitedTypes);

TYPED_TEST(AtomicWait, BlocksUntilNotified) {
    std::atomic<TypeParam> baton{0};
    ASSERT_EQ(Workers::run(3,
                           [&](int index) {
                               const auto mine = static_cast<TypeParam>(index);
                               for (TypeParam seen = baton.load(); seen != mine; seen = baton.load())
                                   baton.wait(seen);
                               baton.store(static_cast<TypeParam>(index + 1));
                               baton.notify_all();
                           }),
              0);
    EXPECT_EQ(baton.load(), 3);
}

TEST(Statics, ContendedLocalStaticIsInitialisedOnce) {
    static std::atomic<int> constructions{0};
    struct Slow {
        int value;
        Slow() : value(0) {
            std::uint32_t never = 0;
            ouro_wasm_wait32(&never, 0, 20'000'000);
            constructions.fetch_add(1);
            value = 42;
        }
    };
    std::atomic<int> wrong{0};
    std::atomic<int> arrived{0};
    ASSERT_EQ(Workers::run(kWorkers,
                           [&](int) {
                               ++arrived;
                               while (arrived.load() != kWorkers) {
                               }
                               static Slow slow;
                               if (slow.value != 42) ++wrong;
                           }),
              0);
    EXPECT_EQ(constructions.load(), 1);
    EXPECT_EQ(wrong.load(), 0);
}

TEST(StandardLibrary, MutexExcludesAndSharedPointersCountAtomically) {
    std::mutex mutex;
    std::uint64_t plain = 0;
    auto shared = std::make_shared<int>(5);
    ASSERT_EQ(Workers::run(kWorkers,
                           [&](int) {
                               for (int i = 0; i < 20'000; ++i) {
                                   const auto copy = shared;
                                   const std::lock_guard guard(mutex);
                                   plain += 1;
                               }
                           }),
              0);
    EXPECT_EQ(plain, static_cast<std::uint64_t>(kWorkers) * 20'000);
    EXPECT_EQ(shared.use_count(), 1);
    std::weak_ptr<int> weak = shared;
    shared.reset();
    EXPECT_EQ(weak.lock(), nullptr);
}

TEST(Threads, WorkersAreReusedOneAfterTheOther) {
    for (int round = 0; round < 20; ++round) {
        int sum = 0;
        ASSERT_EQ(Workers::run(1, [&](int) { sum = tls_value; }), 0);
        ASSERT_EQ(sum, 7) << "thread-locals are fresh in round " << round;
    }
}

TEST(Threads, BadRequestsAreRefused) {
    ouro_wasm_thread thread{};
    std::byte tiny[64];
    EXPECT_EQ(ouro_wasm_thread_start(&thread, nullptr, nullptr, tiny, sizeof tiny, nullptr),
              ouro_wasm_block_too_small);
    EXPECT_EQ(ouro_wasm_thread_start(&thread, nullptr, nullptr, nullptr, 1 << 20, nullptr),
              ouro_wasm_block_too_small);
    EXPECT_EQ(ouro_wasm_thread_block_bytes(std::numeric_limits<std::size_t>::max()), 0u);
    thread.state = ouro_wasm_thread_running;
    std::vector<std::byte> block(ouro_wasm_thread_block_bytes(0));
    EXPECT_EQ(ouro_wasm_thread_start(&thread, nullptr, nullptr, block.data(), block.size(), nullptr),
              ouro_wasm_already_started);
}

TEST(Host, AnswersMakeSense) {
    EXPECT_GE(ouro::wasm_host::core_count(), 1);
    const std::int64_t first = ouro::wasm_host::now_ns();
    EXPECT_LE(first, ouro::wasm_host::now_ns());
    EXPECT_NE(ouro::wasm_host::random_seed(), ouro::wasm_host::random_seed());
}

TEST(Host, ClockNeverGoesBackAcrossThreads) {
    std::atomic<std::int64_t> latest{0};
    std::atomic<int> backwards{0};
    ASSERT_EQ(Workers::run(kWorkers,
                           [&](int) {
                               for (int i = 0; i < 2'000; ++i) {
                                   const std::int64_t seen = latest.load();
                                   const std::int64_t now = ouro::wasm_host::now_ns();
                                   if (now < seen) ++backwards;
                                   std::int64_t before = latest.load();
                                   while (before < now && !latest.compare_exchange_weak(before, now)) {
                                   }
                               }
                           }),
              0);
    EXPECT_EQ(backwards.load(), 0);
}

}  // namespace
