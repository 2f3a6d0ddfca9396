// The parts of a ring that readers share with the thread that commits, each by itself: far more often at the
// same place than a whole ring would bring them there.
#include "lease_table.hpp"
#include "timeline.hpp"
#include "unpacked_pages.hpp"
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
        if (!table->leave(*cell)) return;
        // Nobody else has the cell yet.
        if ((*owners)[*cell].exchange(0, std::memory_order_relaxed) != tick + 1) faults->fetch_add(1);
        table->give_back(*cell);
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

// Calls before it is changed: what another thread may do just then.
struct SteppedWord {
    void (*before_change)(void* argument) = nullptr;
    void* argument = nullptr;
    std::uint32_t value = 0;

    [[nodiscard]] std::uint32_t load(std::memory_order) const { return value; }
    void store(std::uint32_t changed, std::memory_order) {
        if (before_change != nullptr) before_change(argument);
        value = changed;
    }
    void fetch_add(std::uint32_t more, std::memory_order order) { store(value + more, order); }
};

// A tick that is gone back behind and is there again, and somebody who takes a view of it meanwhile, as
// RingCore::view does: so many steps before each step of the other.
class TurnScene {
public:
    static constexpr std::uint32_t kReaderSteps = 6;
    static constexpr std::uint32_t kPauses = 6;
    using Schedule = std::array<std::uint32_t, kPauses>;

    explicit TurnScene(const Schedule& schedule) : schedule_(schedule) {
        leases_.set_quota(1);
        leases_.set_unpacked_quota(1);
        timeline_.advance(kTick);
        const auto pause = [](void* scene) { static_cast<TurnScene*>(scene)->let_reader_step(); };
        timeline_.visit_words([&](SteppedWord& word) {
            word.before_change = pause;
            word.argument = this;
        });
    }

    // As RingCore::go_back does for whoever reads what is left behind, if it is ready for that.
    void go_back_and_on() {
        timeline_.go_back(kTick - 1);
        let_reader_step();
        if (leases_.newest_or(0) == kTick) is_served_ = leases_.is_set_aside(kCell);
        let_reader_step();
        leases_.move_behind(kTick - 1, 1);
        timeline_.advance(kTick);
        let_reader_step();
    }
    [[nodiscard]] bool is_sure() const { return is_sure_; }
    // It reads the tick that is there now, or what was kept for it of the one that was.
    [[nodiscard]] bool is_right() const { return leases_.lease(kCell).future == 0 || is_served_; }

private:
    static constexpr std::uint32_t kTick = 5;
    static constexpr std::uint32_t kCell = 0;

    void let_reader_step() {
        for (std::uint32_t count = schedule_[pauses_++]; count != 0; --count)
            step();
    }
    void step() {
        switch (steps_++) {
            case 0:
                turn_ = timeline_.turn();
                break;
            case 1:
                is_there_ = timeline_.newest() >= kTick;
                break;
            case 2:
                is_there_ = is_there_ && leases_.take(kTick, 0, 1).has_value();
                break;
            case 3:
                is_there_ = is_there_ && leases_.set_aside(kCell, 1);
                break;
            case 4:
                is_there_ = is_there_ && timeline_.newest() >= kTick;
                break;
            default:
                is_sure_ = is_there_ && timeline_.turn() == turn_;
                break;
        }
    }

    Schedule schedule_;
    BasicTimeline<SteppedWord> timeline_;
    LeaseTable leases_;
    std::uint32_t pauses_ = 0;
    std::uint32_t steps_ = 0;
    std::uint32_t turn_ = 0;
    bool is_there_ = false;
    bool is_sure_ = false;
    bool is_served_ = false;
};

// Calls with each way to spread the steps over the pauses.
template <class Visit>
void visit_schedules(TurnScene::Schedule& schedule, std::size_t at, std::uint32_t left, Visit&& visit) {
    if (at + 1 == schedule.size()) {
        schedule[at] = left;
        visit(schedule);
        return;
    }
    for (std::uint32_t count = 0; count <= left; ++count) {
        schedule[at] = count;
        visit_schedules(schedule, at + 1, left - count, visit);
    }
}

TEST(RingParts, WhoIsSureOfATickIsNotLeftBehindWithIt) {
    TurnScene::Schedule schedule{};
    std::uint32_t sure = 0;
    std::uint32_t unsure = 0;
    visit_schedules(schedule, 0, TurnScene::kReaderSteps, [&](const TurnScene::Schedule& each) {
        TurnScene scene(each);
        scene.go_back_and_on();
        ++(scene.is_sure() ? sure : unsure);
        EXPECT_TRUE(!scene.is_sure() || scene.is_right()) << ::testing::PrintToString(each);
    });
    EXPECT_NE(sure, 0U);
    EXPECT_NE(unsure, 0U);
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

// More threads than there are places want the same page: whoever finds none looks whether another was
// quicker, until it was.
struct Unpacker {
    static constexpr std::uint32_t kPages = 2'000;

    UnpackedPages* unpacked = nullptr;
    std::atomic<std::uint32_t>* page = nullptr;
    std::atomic<std::uint32_t>* done = nullptr;
    std::uint32_t faults = 0;

    static void run(void* argument) {
        auto& self = *static_cast<Unpacker*>(argument);
        for (std::uint32_t page = 1; page <= kPages; ++page) {
            while (self.page->load() != page)
                os::yield_thread();
            if (self.unpack(page)[0] != static_cast<std::byte>(page)) ++self.faults;
            self.done->fetch_add(1);
        }
    }
    [[nodiscard]] const std::byte* unpack(std::uint32_t page_number) const {
        for (;;) {
            if (const std::byte* found = unpacked->find(0, page_number); found != nullptr) return found;
            if (const std::uint32_t place = unpacked->take(); place != 0) {
                unpacked->bytes(place)[0] = static_cast<std::byte>(page_number);
                os::yield_thread();
                return unpacked->add(0, page_number, place);
            }
            os::yield_thread();
        }
    }
};

TEST(RingParts, WhoeverHasNoPlaceToUnpackWaitsForOneWhoHas) {
    constexpr std::uint32_t kPlaces = 2;
    UnpackedPages unpacked;
    Carver size;
    unpacked.carve(size, kPlaces);
    std::vector<std::byte> memory(static_cast<std::size_t>(size.used_bytes()) + kStatePageBytes);
    auto* aligned = memory.data() + padding_to(memory.data(), kStatePageBytes);
    Carver carver(MemoryBlock{aligned, memory.size() - kStatePageBytes});
    unpacked.carve(carver, kPlaces);
    std::atomic<std::uint32_t> page = 0;
    std::atomic<std::uint32_t> done = 0;
    std::array<Unpacker, 6> unpackers;
    std::array<os::Thread, 6> threads;
    for (std::size_t index = 0; index < unpackers.size(); ++index) {
        unpackers[index] = {.unpacked = &unpacked, .page = &page, .done = &done};
        auto thread = os::Thread::start(Unpacker::run, &unpackers[index]);
        ASSERT_TRUE(thread);
        threads[index] = *std::move(thread);
    }
    for (std::uint32_t each = 1; each <= Unpacker::kPages; ++each) {
        page.store(each);
        while (done.load() != each * unpackers.size())
            os::yield_thread();
        unpacked.end(0);
    }
    for (os::Thread& thread : threads)
        thread.join();
    for (const Unpacker& unpacker : unpackers)
        EXPECT_EQ(unpacker.faults, 0U);
}

}  // namespace
}  // namespace ouro::detail
