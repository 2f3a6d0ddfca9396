// What check() of the strategies with a cursor, of the system's pages and of the decorators finds.
#include "damage.hpp"

#include <ouro/memory/fallback_chain.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/huge_page_arena.hpp>
#include <ouro/memory/seal.hpp>
#include <ouro/memory/stack_allocator.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/memory/tagged_allocator.hpp>
#include <ouro/memory/two_ended_stack.hpp>
#include <ouro/os/virtual_memory.hpp>

namespace ouro::testing_support {

OURO_OPEN_MEMBER(FrameRange, &FrameAllocator::range_);
OURO_OPEN_MEMBER(StackRange, &StackAllocator::range_);
OURO_OPEN_MEMBER(StackLiveBlocks, &StackAllocator::live_blocks_);
OURO_OPEN_MEMBER(BumpCursor, &BumpRange::cursor_);
OURO_OPEN_MEMBER(BumpLimit, &BumpRange::limit_);
OURO_OPEN_MEMBER(BumpMemory, &BumpRange::range_);
OURO_OPEN_MEMBER(GrowingWhole, &GrowingRange::whole_);
OURO_OPEN_MEMBER(TwoEndedRange, &TwoEndedStack::range_);
OURO_OPEN_MEMBER(EndLiveBlocks, &TwoEndedStack::End::live_blocks_);
OURO_OPEN_MEMBER(ArenaCursor, &HugePageArena::cursor_);
OURO_OPEN_MEMBER(ArenaLimit, &HugePageArena::limit_);
OURO_OPEN_MEMBER(ArenaChunkCount, &HugePageArena::chunk_count_);
OURO_OPEN_MEMBER(ArenaCurrent, &HugePageArena::current_);
OURO_OPEN_MEMBER(ArenaMaxBytes, &HugePageArena::max_bytes_);
OURO_OPEN_MEMBER(ArenaChunks, &HugePageArena::chunks_);
OURO_OPEN_MEMBER(SystemBooks, &SystemAllocator::books_);
OURO_OPEN_MEMBER(SystemMaxBytes, &SystemAllocator::max_bytes_);
OURO_OPEN_MEMBER(TaggedUse, &detail::TaggedResource::use_);
OURO_OPEN_MEMBER(UseLiveBytes, &detail::UseCounter::live_bytes_);
OURO_OPEN_MEMBER(UsePeakBytes, &detail::UseCounter::peak_bytes_);
OURO_OPEN_MEMBER(UseAllocations, &detail::UseCounter::allocations_);
OURO_OPEN_MEMBER(UseDeallocations, &detail::UseCounter::deallocations_);
OURO_OPEN_MEMBER(UseAllocatedBytes, &detail::UseCounter::allocated_bytes_);
OURO_OPEN_MEMBER(ChainCount, &FallbackChain::count_);

namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

template <class Checked>
void expect_range_checked(const Checked& checked, BumpRange& range) {
    auto& cursor = open<BumpCursor>(range);
    auto& limit = open<BumpLimit>(range);
    MemoryBlock& whole = open<GrowingWhole>(open<BumpMemory>(range));
    const auto begin = reinterpret_cast<std::uintptr_t>(whole.data);
    OURO_EXPECT_FOUND(checked, cursor, begin - 16);
    OURO_EXPECT_FOUND(checked, cursor, limit + 16);
    OURO_EXPECT_FOUND(checked, limit, limit + 16);
    OURO_EXPECT_FOUND(checked, limit, cursor);
    OURO_EXPECT_FOUND(checked, whole.size, 16U);
}

TEST(Check, FindsADamagedFrame) {
    auto frame = FrameAllocator::create({.max_bytes = kMegabyte});
    ASSERT_TRUE(frame && frame->allocate(1000));
    expect_range_checked(*frame, open<FrameRange>(*frame));
}

TEST(Check, FindsADamagedStack) {
    auto stack = StackAllocator::create({.max_bytes = kMegabyte});
    ASSERT_TRUE(stack && stack->allocate(1000));
    expect_range_checked(*stack, open<StackRange>(*stack));
    auto& cursor = open<BumpCursor>(open<StackRange>(*stack));
    OURO_EXPECT_FOUND(*stack, cursor, cursor - 1);
    OURO_EXPECT_FOUND(*stack, open<StackLiveBlocks>(*stack), 1000U);
}

TEST(Check, FindsADamagedTwoEndedStack) {
    auto stack = TwoEndedStack::create({.max_bytes = kMegabyte});
    ASSERT_TRUE(stack && stack->front().allocate(1000) && stack->back().allocate(1000));
    auto& range = open<TwoEndedRange>(*stack);
    const auto expect_both = [&](auto& place, std::uintptr_t wrong) {
        OURO_EXPECT_FOUND(stack->front(), place, wrong);
        OURO_EXPECT_FOUND(stack->back(), place, wrong);
        OURO_EXPECT_FOUND(*stack, place, wrong);
    };
    expect_both(range.cursor[0], range.begin() - 16);
    expect_both(range.cursor[0], range.cursor[1] + 16);
    expect_both(range.cursor[1], range.cursor[0] - 16);
    expect_both(range.cursor[1], range.end() + 16);
    expect_both(range.limit[0], range.limit[1] + 16);
    // In memory that neither end has.
    expect_both(range.cursor[0], range.limit[0] + 16);
    expect_both(range.cursor[1], range.limit[1] - 16);
    OURO_EXPECT_FOUND(stack->front(), range.cursor[0], range.cursor[0] - 1);
    OURO_EXPECT_FOUND(stack->back(), range.cursor[1], range.cursor[1] + 1);
    for (auto* end : {&stack->front(), &stack->back()}) {
        OURO_EXPECT_FOUND(*end, open<EndLiveBlocks>(*end), 1000U);
        OURO_EXPECT_FOUND(*stack, open<EndLiveBlocks>(*end), 1000U);
    }
}

TEST(Check, FindsADamagedArena) {
    auto arena = HugePageArena::create(
        {.max_bytes = 64 * kMegabyte, .chunk_bytes = 2 * kMegabyte, .pages = os::PageKind::normal});
    ASSERT_TRUE(arena);
    OURO_EXPECT_FOUND(*arena, open<ArenaCursor>(*arena), 16U);
    // Three chunks, of which the last is free.
    const auto marker = arena->mark();
    ASSERT_TRUE(arena->allocate(kMegabyte));
    for (int chunk = 0; chunk < 2; ++chunk)
        ASSERT_TRUE(arena->allocate(2 * kMegabyte));
    arena->rewind(marker);
    ASSERT_TRUE(arena->allocate(kMegabyte) && arena->allocate(2 * kMegabyte));
    auto& chunks = open<ArenaChunks>(*arena);
    auto& cursor = open<ArenaCursor>(*arena);
    auto& limit = open<ArenaLimit>(*arena);
    ASSERT_EQ(open<ArenaChunkCount>(*arena), 3U);
    ASSERT_EQ(open<ArenaCurrent>(*arena), 1U);
    OURO_EXPECT_FOUND(*arena, open<ArenaChunkCount>(*arena), chunks.size() + 1);
    OURO_EXPECT_FOUND(*arena, open<ArenaMaxBytes>(*arena), kMegabyte);
    OURO_EXPECT_FOUND(*arena, open<ArenaCurrent>(*arena), 3U);
    OURO_EXPECT_FOUND(*arena, cursor, reinterpret_cast<std::uintptr_t>(chunks[1].huge.block.data) - 1);
    OURO_EXPECT_FOUND(*arena, cursor, limit + 1);
    OURO_EXPECT_FOUND(*arena, limit, limit + 16);
    OURO_EXPECT_FOUND(*arena, chunks[2].huge.block.data, chunks[0].huge.block.data + kMegabyte);
    OURO_EXPECT_FOUND(*arena, chunks[1].used_before, 16U);
    OURO_EXPECT_FOUND(*arena, chunks[0].used_bytes, 16U);
    // Both of them, so that the sums are right again.
    chunks[1].used_before = chunks[0].huge.block.size + 16;
    EXPECT_EQ(arena->check(), Status::corrupt_data);
    chunks[0].used_bytes = chunks[0].huge.block.size + 16;
    EXPECT_EQ(arena->check(), Status::corrupt_data);
    chunks[1].used_before = chunks[0].used_bytes = kMegabyte;
    EXPECT_EQ(arena->check(), Status::ok);
}

TEST(Check, FindsDamagedBooksOfTheSystemAllocator) {
    auto system = SystemAllocator::create({.max_bytes = 64 * kMegabyte});
    ASSERT_TRUE(system);
    auto& books = open<SystemBooks>(*system);
    const auto live = system->allocate(100'000);
    const auto cached = system->allocate(100'000);
    const auto held = system->allocate(8 * kMegabyte);
    ASSERT_TRUE(live && cached && held);
    system->deallocate(*cached);
    {
        // Too large for the cache; kept because of the seal.
        const SealScope seal;
        system->deallocate(*held);
    }
    ASSERT_EQ(books.cached, 1U);
    ASSERT_NE(books.held_back, nullptr);
    OURO_EXPECT_FOUND(*system, books.cached_bytes, books.cached_bytes + os::page_size());
    OURO_EXPECT_FOUND(*system, books.held_back_bytes, books.held_back_bytes - 1);
    OURO_EXPECT_FOUND(*system, books.held_back_bytes, books.held_back_bytes + os::page_size());
    OURO_EXPECT_FOUND(*system, books.live_bytes, books.live_bytes + os::page_size());
    OURO_EXPECT_FOUND(*system, open<SystemMaxBytes>(*system), 16U);
    OURO_EXPECT_FOUND(*system, books.cached, 0U);
    // A range that is not among its pages, of the right size.
    std::byte outside[16] = {};
    OURO_EXPECT_FOUND(*system, books.cache[0].data, outside);
    OURO_EXPECT_FOUND(*system, books.held_back->bytes, 128 * kMegabyte);
    // A list without an end.
    OURO_EXPECT_FOUND(*system, books.held_back->next, books.held_back);
    EXPECT_EQ(system->check(), Status::ok);
    system->deallocate(*live);
}

TEST(Check, FindsDamagedCountsOfATag) {
    auto frame = FrameAllocator::create({.max_bytes = kMegabyte});
    ASSERT_TRUE(frame);
    TaggedAllocator tagged(*frame, {});
    auto& use = open<TaggedUse>(tagged);
    OURO_EXPECT_FOUND(tagged, open<UseAllocations>(use), 1U);
    const auto block = tagged.allocate(100);
    ASSERT_TRUE(block && tagged.allocate(50));
    OURO_EXPECT_FOUND(tagged, open<UsePeakBytes>(use), 149U);
    OURO_EXPECT_FOUND(tagged, open<UseLiveBytes>(use), 1U);
    OURO_EXPECT_FOUND(tagged, open<UseLiveBytes>(use), 0U);
    OURO_EXPECT_FOUND(tagged, open<UseDeallocations>(use), 2U);
    OURO_EXPECT_FOUND(tagged, open<UseDeallocations>(use), 3U);
    OURO_EXPECT_FOUND(tagged, open<UseAllocatedBytes>(use), 149U);
    // What lies below it.
    auto& cursor = open<BumpCursor>(open<FrameRange>(*frame));
    OURO_EXPECT_FOUND(tagged, cursor, open<BumpLimit>(open<FrameRange>(*frame)) + 16);
}

TEST(Check, FindsADamagedLinkAndADamagedChain) {
    auto first = FrameAllocator::create({.max_bytes = kMegabyte});
    auto last = StackAllocator::create({.max_bytes = kMegabyte});
    ASSERT_TRUE(first && last && first->allocate(100));
    auto chain = FallbackChain::create({&*first, &*last});
    ASSERT_TRUE(chain);
    OURO_EXPECT_FOUND(*chain, open<ChainCount>(*chain), 0U);
    OURO_EXPECT_FOUND(*chain, open<BumpCursor>(open<FrameRange>(*first)), 16U);
    OURO_EXPECT_FOUND(*chain, open<StackLiveBlocks>(*last), 16U);
}

}  // namespace
}  // namespace ouro::testing_support
