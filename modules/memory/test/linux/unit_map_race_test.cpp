// Races of the map of units, one step at a time: a search comes to a page of the map that cannot be read yet,
// and what another thread would do meanwhile happens in the handler of that fault.
#include <ouro/memory/detail/unit_map.hpp>
#include <ouro/os/clock.hpp>
#include <ouro/os/reservation.hpp>
#include <ouro/os/thread.hpp>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace {

using ouro::detail::UnitMap;

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kWordsPerPage = kPageBytes / sizeof(UnitMap::Word);
constexpr std::size_t kWords = 2 * kWordsPerPage;
constexpr std::size_t kUnits = kWords * UnitMap::kUnitsPerWord;

std::byte* g_closed_page = nullptr;
UnitMap* g_map = nullptr;
std::size_t g_unit_to_give_back = 0;

void open_page_and_give_back(int) {
    ::mprotect(g_closed_page, kPageBytes, PROT_READ | PROT_WRITE);
    g_map->give_back(g_unit_to_give_back, 1);
}

// Closes a page for the next who looks at it.
class ClosedPage {
public:
    ClosedPage(std::byte* page, UnitMap& map, std::size_t unit) {
        g_closed_page = page;
        g_map = &map;
        g_unit_to_give_back = unit;
        struct sigaction action = {};
        action.sa_handler = open_page_and_give_back;
        ::sigaction(SIGSEGV, &action, &before_);
        ::mprotect(page, kPageBytes, PROT_NONE);
    }
    ~ClosedPage() {
        ::mprotect(g_closed_page, kPageBytes, PROT_READ | PROT_WRITE);
        ::sigaction(SIGSEGV, &before_, nullptr);
    }
    ClosedPage(const ClosedPage&) = delete;
    ClosedPage& operator=(const ClosedPage&) = delete;

private:
    struct sigaction before_ = {};
};

TEST(UnitMapRace, WhatIsGivenBackBehindASearchIsFoundByTheNext) {
    const auto addresses = ouro::os::Reservation::create(
        {.bytes = kUnits * UnitMap::kUnitBytes, .alignment = UnitMap::kUnitBytes});
    ASSERT_TRUE(addresses);
    auto words = ouro::os::Reservation::create({.bytes = 2 * kWords * sizeof(UnitMap::Word)});
    ASSERT_TRUE(words && words->commit(0, words->block().size));
    auto* const taken = reinterpret_cast<UnitMap::Word*>(words->block().data);
    UnitMap map(
        {.units = addresses->block(), .taken = taken, .dirty = taken + kWords, .usable_units = kUnits}, {});
    ASSERT_TRUE(map.take(kUnits));
    // Free in the middle of the first page, and in the second.
    const std::size_t early = kWordsPerPage / 2 * UnitMap::kUnitsPerWord;
    const std::size_t late = (kWordsPerPage + 10) * UnitMap::kUnitsPerWord;
    map.give_back(late, 1);
    map.give_back(0, 1);
    ASSERT_EQ(map.take(1)->first, 0U);
    {
        const ClosedPage closed(words->block().data + kPageBytes, map, early);
        // The search has passed the early one when that is given back.
        EXPECT_EQ(map.take(1)->first, late);
    }
    const auto found = map.take(1);
    ASSERT_TRUE(found) << "a free unit is hidden";
    EXPECT_EQ(found->first, early);
}

// What a thread does while another is in the middle of a purge.
struct Taker {
    static void run(void* self) {
        auto& own = *static_cast<Taker*>(self);
        while (!own.may_begin.load())
            ouro::os::yield_thread();
        own.has_taken = own.map->take(kPurgedUnits).has_value();
        own.is_done.store(true);
    }
    static constexpr std::size_t kPurgedUnits = 16;

    UnitMap* map = nullptr;
    std::byte* taken_page = nullptr;
    std::byte* dirty_page = nullptr;
    std::atomic<bool> may_begin = false;
    std::atomic<bool> is_done = false;
    bool has_taken = false;
};
Taker* g_taker = nullptr;

// A purge looks at the marks, then at what is taken, takes it itself, and comes back to the marks. The first
// fault is the second step, the second one the last.
void let_take_in_the_middle(int, siginfo_t* info, void*) {
    // Much less than a purge is waited for.
    constexpr std::uint64_t kMomentNs = 10'000'000;
    Taker& taker = *g_taker;
    const auto* const address = static_cast<std::byte*>(info->si_addr);
    if (address >= taker.taken_page && address < taker.taken_page + kPageBytes) {
        ::mprotect(taker.taken_page, kPageBytes, PROT_READ | PROT_WRITE);
        ::mprotect(taker.dirty_page, kPageBytes, PROT_NONE);
        return;
    }
    ::mprotect(taker.dirty_page, kPageBytes, PROT_READ | PROT_WRITE);
    taker.may_begin.store(true);
    // Whoever does not wait for the purge is done soon.
    const std::uint64_t begin_ns = ouro::os::monotonic_ns();
    while (!taker.is_done.load() && ouro::os::monotonic_ns() - begin_ns < kMomentNs)
        ouro::os::yield_thread();
}

TEST(UnitMapRace, WhatAPurgeHoldsIsWaitedFor) {
    auto units = ouro::os::Reservation::create(
        {.bytes = Taker::kPurgedUnits * UnitMap::kUnitBytes, .alignment = UnitMap::kUnitBytes});
    ASSERT_TRUE(units && units->commit(0, units->block().size));
    auto words = ouro::os::Reservation::create({.bytes = 2 * kPageBytes});
    ASSERT_TRUE(words && words->commit(0, words->block().size));
    std::byte* const pages = words->block().data;
    UnitMap map({.units = units->block(),
                 .taken = reinterpret_cast<UnitMap::Word*>(pages),
                 .dirty = reinterpret_cast<UnitMap::Word*>(pages + kPageBytes),
                 .usable_units = Taker::kPurgedUnits},
                {.make_usable = [](void*, std::size_t, std::size_t) { return ouro::Expected<void>(); }});
    ASSERT_TRUE(map.take(Taker::kPurgedUnits));
    map.give_back(0, Taker::kPurgedUnits);
    Taker taker;
    taker.map = &map;
    taker.taken_page = pages;
    taker.dirty_page = pages + kPageBytes;
    g_taker = &taker;
    auto thread = ouro::os::Thread::start(Taker::run, &taker);
    ASSERT_TRUE(thread);
    struct sigaction action = {};
    struct sigaction before = {};
    action.sa_sigaction = let_take_in_the_middle;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSEGV, &action, &before);
    ::mprotect(pages, kPageBytes, PROT_NONE);
    EXPECT_EQ(map.purge(), units->block().size);
    ::sigaction(SIGSEGV, &before, nullptr);
    thread->join();
    EXPECT_TRUE(taker.has_taken) << "refused what a purge held for a moment";
}

}  // namespace
