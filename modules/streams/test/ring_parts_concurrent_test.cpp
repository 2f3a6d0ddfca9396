// The parts of a ring that readers share with the thread that commits, each by itself: far more often at the
// same place than a whole ring would bring them there.
#include "lease_table.hpp"
#include "version_index.hpp"

#include <ouro/base/align.hpp>
#include <ouro/os/thread.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace ouro::detail {
namespace {

// Threads that take and end leases on a few ticks. A cell belongs to one tick until its last reader is done
// with it, and what it counts for is counted back.
struct LeaseTaker {
    static constexpr std::uint32_t kTicks = 3;
    static constexpr std::uint32_t kRounds = 300'000;
    // Who has the cell: its tick, plus one.
    using Owners = std::array<std::atomic<std::uint32_t>, LeaseTable::kReaderCells>;

    LeaseTable* table = nullptr;
    Owners* owners = nullptr;
    std::atomic<std::uint32_t>* faults = nullptr;
    std::uint32_t number = 0;

    static void run(void* argument) {
        auto& self = *static_cast<LeaseTaker*>(argument);
        for (std::uint32_t round = 0; round < kRounds; ++round)
            self.take_and_end((round + self.number) % kTicks);
    }

    void take_and_end(std::uint32_t tick) {
        const auto cell = table->take(tick, 0, 1 + tick);
        if (!cell) {
            faults->fetch_add(1);
            return;
        }
        table->settle(*cell);
        (*owners)[*cell].store(tick + 1, std::memory_order_relaxed);
        if (!table->set_aside(*cell, 1 + tick)) faults->fetch_add(1);
        const bool is_mine =
            table->lease(*cell).tick == tick && table->is_set_aside(*cell) && table->lease(*cell).is_held;
        if (!is_mine) faults->fetch_add(1);
        table->end(*cell, [&] {
            // Nobody else has the cell yet.
            if ((*owners)[*cell].exchange(0, std::memory_order_relaxed) != tick + 1) faults->fetch_add(1);
        });
    }
};

TEST(RingParts, ACellIsTakenWhenItsLastReaderIsDoneWithIt) {
    LeaseTable table;
    table.set_quota(1000);
    table.set_unpacked_quota(1000);
    LeaseTaker::Owners owners{};
    std::atomic<std::uint32_t> faults = 0;
    std::array<LeaseTaker, 4> takers;
    std::array<os::Thread, 4> threads;
    for (std::uint32_t index = 0; index < takers.size(); ++index) {
        takers[index] = {.table = &table, .owners = &owners, .faults = &faults, .number = index};
        auto thread = os::Thread::start(LeaseTaker::run, &takers[index]);
        ASSERT_TRUE(thread);
        threads[index] = *std::move(thread);
    }
    for (os::Thread& thread : threads)
        thread.join();
    EXPECT_EQ(faults, 0U);
    EXPECT_EQ(table.pages_reserved(), 0U);
    EXPECT_FALSE(table.is_any_held());
}

TEST(RingParts, ACellIsSharedOnceItIsSettled) {
    LeaseTable table;
    table.set_quota(100);
    const auto first = table.take(5, 0, 10);
    const auto second = table.take(5, 0, 20);
    ASSERT_TRUE(first && second);
    EXPECT_NE(*first, *second);
    table.settle(*second);
    EXPECT_EQ(*table.take(5, 0, 30), *second);
    EXPECT_EQ(table.pages_reserved(), 30U);
    // In the future that it belongs to.
    table.move_behind(4, 48);
    EXPECT_EQ(table.lease(*second).future, 48U);
    EXPECT_TRUE(table.reads_future(48));
    EXPECT_EQ(*table.take(5, 48, 30), *second);
}

// Somebody asks for more than there is, again and again.
struct GreedyTaker {
    LeaseTable* table = nullptr;
    std::atomic<bool> has_begun = false;
    std::atomic<bool> is_over = false;

    static void run(void* argument) {
        auto& self = *static_cast<GreedyTaker*>(argument);
        self.has_begun = true;
        while (!self.is_over.load(std::memory_order_relaxed))
            if (self.table->reserve(100)) self.table->unreserve(100);
    }
};

TEST(RingParts, WhatIsTooMuchForOneKeepsNobodyElseOut) {
    LeaseTable table;
    table.set_quota(100);
    ASSERT_TRUE(table.reserve(1));
    GreedyTaker greedy{.table = &table};
    auto thread = os::Thread::start(GreedyTaker::run, &greedy);
    ASSERT_TRUE(thread);
    while (!greedy.has_begun)
        os::yield_thread();
    std::uint32_t refused = 0;
    for (std::uint32_t round = 0; round < LeaseTaker::kRounds; ++round) {
        if (table.reserve(1))
            table.unreserve(1);
        else
            ++refused;
    }
    greedy.is_over = true;
    thread->join();
    EXPECT_EQ(refused, 0U);
    EXPECT_EQ(table.pages_reserved(), 1U);
}

// One page that changes in every tick, and a reader of a tick that is not far back: its blocks are taken for
// new ones all the time.
struct ChainReader {
    static constexpr std::uint32_t kReads = 500'000;
    static constexpr std::uint32_t kReach = 35;
    static constexpr std::uint32_t kNothing = ~std::uint32_t{0};

    VersionIndex index;
    std::vector<std::byte> memory;
    std::atomic<std::uint32_t> newest = 0;
    std::atomic<std::uint32_t> oldest = 0;
    std::atomic<std::uint32_t> leased = kNothing;
    std::atomic<bool> is_done = false;
    std::uint32_t reads = 0;
    std::uint32_t faults = 0;

    ChainReader() {
        constexpr std::uint64_t kVersions = 4 * kReach;
        Carver size;
        index.carve(size, 1, kVersions);
        memory.resize(static_cast<std::size_t>(size.used_bytes()) + Carver::kAlignment);
        auto* aligned = memory.data() + padding_to(memory.data(), Carver::kAlignment);
        Carver carver(MemoryBlock{aligned, memory.size() - Carver::kAlignment});
        index.carve(carver, 1, kVersions);
    }

    static void run(void* argument) {
        auto& self = *static_cast<ChainReader*>(argument);
        for (std::uint32_t back = 0; self.reads < kReads; back = (back + 1) % kReach) {
            const std::uint32_t newest = self.newest.load();
            self.read(newest > back ? newest - back : newest);
        }
        self.is_done.store(true);
    }
    void read(std::uint32_t tick) {
        // As with leases: taken first, and then it is seen whether the tick is still there.
        leased.store(tick);
        if (tick >= oldest.load() && tick != 0) {
            if (find(tick) != tick) ++faults;
            ++reads;
        }
        leased.store(kNothing);
    }
    [[nodiscard]] std::uint32_t find(std::uint32_t tick) const {
        for (;;) {
            const std::uint32_t state = index.state();
            const std::uint32_t found_tick = index.find(0, tick).tick;
            if (index.is_unchanged(state)) return found_tick;
        }
    }

    void append(std::uint32_t tick) {
        if (tick > kReach) oldest.store(tick - kReach);
        // Without a block until the reader is done.
        while (!index.append(0, {tick, tick}, std::min(oldest.load(), leased.load())))
            os::yield_thread();
        newest.store(tick);
    }
};

TEST(RingParts, AReaderComesToAnEndWhileBlocksAreTakenAnew) {
    ChainReader reader;
    auto thread = os::Thread::start(ChainReader::run, &reader);
    ASSERT_TRUE(thread);
    for (std::uint32_t tick = 1; !reader.is_done.load(); ++tick)
        reader.append(tick);
    thread->join();
    EXPECT_EQ(reader.faults, 0U);
    EXPECT_EQ(reader.index.check(), Status::ok);
}

}  // namespace
}  // namespace ouro::detail
