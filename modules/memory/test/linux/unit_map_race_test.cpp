// Races of the map of units, one step at a time: a search comes to a page of the map that cannot be read yet,
// and what another thread would do meanwhile happens in the handler of that fault.
#include <ouro/memory/detail/unit_map.hpp>
#include <ouro/os/reservation.hpp>

#include <array>
#include <csignal>
#include <cstddef>
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

}  // namespace
