#include "linear_memory.hpp"

#include "workers.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <gtest/gtest.h>

namespace {

using namespace ouro::wasm;

unsigned char* bytes_of(PageRange range) {
    return reinterpret_cast<unsigned char*>(range.first * kPageBytes);
}

PageRange take(std::uint32_t count) {
    PageRange range;
    EXPECT_EQ(take_pages(PageOwner::os, {.count = count}, range), TakeOutcome::taken);
    return range;
}

TEST(LinearMemory, GrowsAndTheNewPagesAreZeroInEveryThread) {
    constexpr std::uint32_t kCount = 16;
    PageRange ranges[4];
    std::atomic<int> wrong{0};
    ASSERT_EQ(Workers::run(4,
                           [&](int index) {
                               PageRange& range = ranges[index];
                               const auto outcome = take_pages(PageOwner::os, {.count = kCount}, range);
                               if (outcome != TakeOutcome::taken || !grow_to(range.end())) {
                                   ++wrong;
                                   return;
                               }
                               unsigned char* bytes = bytes_of(range);
                               if (std::any_of(bytes, bytes + kCount * kPageBytes,
                                               [](unsigned char b) { return b != 0; }))
                                   ++wrong;
                               std::memset(bytes, index + 1, kCount * kPageBytes);
                           }),
              0);
    ASSERT_EQ(wrong.load(), 0);
    for (int i = 0; i < 4; ++i) {
        const unsigned char* bytes = bytes_of(ranges[i]);
        EXPECT_TRUE(std::all_of(bytes, bytes + kCount * kPageBytes, [i](unsigned char b) {
            return b == i + 1;
        })) << i;
        EXPECT_EQ(GiveOutcome::given, give_back_pages(PageOwner::os, ranges[i]));
    }
}

TEST(LinearMemory, EndsWhereTheHostSays) {
    EXPECT_GT(first_page(), 0U);
    EXPECT_LE(first_page(), grown_pages());
    EXPECT_LE(grown_pages(), maximum_pages());
    EXPECT_EQ(grown_pages(), __builtin_wasm_memory_size(0));
    EXPECT_FALSE(grow_to(maximum_pages() + 1));
    EXPECT_EQ(__builtin_wasm_memory_grow(0, kAddressablePages), SIZE_MAX);
    PageRange range;
    EXPECT_EQ(take_pages(PageOwner::os, {.count = maximum_pages()}, range), TakeOutcome::no_room);
    EXPECT_EQ(take_pages(PageOwner::os, {.count = UINT32_MAX}, range), TakeOutcome::no_room);
}

TEST(LinearMemory, RangesBelongToTheirOwner) {
    const PageRange range = take(3);
    EXPECT_TRUE(owns_pages(PageOwner::os, range));
    EXPECT_TRUE(owns_pages(PageOwner::os, {range.first + 1, 2}));
    EXPECT_FALSE(owns_pages(PageOwner::os, {range.first + 1, 3}));
    EXPECT_FALSE(owns_pages(PageOwner::os, {range.first - 1, 2}));
    EXPECT_FALSE(owns_pages(PageOwner::test_heap, range));
    EXPECT_EQ(GiveOutcome::not_taken, give_back_pages(PageOwner::test_heap, range));
    EXPECT_EQ(GiveOutcome::not_taken, give_back_pages(PageOwner::os, {range.first, 4}));
    EXPECT_EQ(GiveOutcome::not_taken, give_back_pages(PageOwner::os, {range.first + 1, 0}));
    EXPECT_EQ(pages_of(PageOwner::os), 3U);
    EXPECT_EQ(GiveOutcome::given, give_back_pages(PageOwner::os, range));
    EXPECT_EQ(GiveOutcome::not_taken, give_back_pages(PageOwner::os, range));
    EXPECT_EQ(pages_of(PageOwner::os), 0U);
}

TEST(LinearMemory, PartsAreGivenBack) {
    const PageRange range = take(6);
    EXPECT_EQ(GiveOutcome::given, give_back_pages(PageOwner::os, {range.first + 2, 1}));
    EXPECT_FALSE(owns_pages(PageOwner::os, {range.first + 1, 2}));
    EXPECT_TRUE(owns_pages(PageOwner::os, {range.first, 2}));
    EXPECT_TRUE(owns_pages(PageOwner::os, {range.first + 3, 3}));
    EXPECT_EQ(GiveOutcome::not_taken, give_back_pages(PageOwner::os, {range.first + 1, 3}));
    EXPECT_EQ(GiveOutcome::given, give_back_pages(PageOwner::os, {range.first, 1}));
    EXPECT_EQ(GiveOutcome::given, give_back_pages(PageOwner::os, {range.first + 5, 1}));
    EXPECT_EQ(pages_of(PageOwner::os), 3U);
    EXPECT_EQ(GiveOutcome::given, give_back_pages(PageOwner::os, {range.first + 1, 1}));
    EXPECT_EQ(GiveOutcome::given, give_back_pages(PageOwner::os, {range.first + 3, 2}));
    EXPECT_EQ(pages_of(PageOwner::os), 0U);
}

TEST(LinearMemory, TheHeapAndOthersDoNotMeet) {
    const PageRange before = take(1);
    auto* block = static_cast<unsigned char*>(::operator new(8 << 20));
    const PageRange behind = take(1);
    const auto first = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(block) / kPageBytes);
    EXPECT_TRUE(owns_pages(PageOwner::test_heap, {first, 128}));
    for (const PageRange range : {before, behind}) {
        EXPECT_TRUE(range.end() <= first || range.first >= first + 128);
        EXPECT_EQ(GiveOutcome::given, give_back_pages(PageOwner::os, range));
    }
    ::operator delete(block);
}

TEST(LinearMemory, AnExactRangeIsTakenOnlyWhereItIsFree) {
    const PageRange range = take(4);
    PageRange again;
    const auto at = [&](std::uint32_t first, std::uint32_t count) {
        return take_pages(PageOwner::os, {.count = count, .first = first}, again);
    };
    EXPECT_EQ(at(range.first + 3, 1), TakeOutcome::in_use);
    EXPECT_EQ(at(1, 1), TakeOutcome::in_use);
    EXPECT_EQ(at(maximum_pages() - 1, 2), TakeOutcome::no_room);
    ASSERT_EQ(at(maximum_pages() - 1, 1), TakeOutcome::taken);
    EXPECT_EQ(GiveOutcome::given, give_back_pages(PageOwner::os, again));
    EXPECT_EQ(GiveOutcome::given, give_back_pages(PageOwner::os, range));
    ASSERT_EQ(at(range.first + 1, 2), TakeOutcome::taken);
    EXPECT_EQ(again.first, range.first + 1);
    EXPECT_EQ(GiveOutcome::given, give_back_pages(PageOwner::os, again));
}

}  // namespace
