#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::BlockHandle;
using ouro::BlockInfo;
using ouro::BlockKind;
using ouro::BlockRegistration;
using ouro::find_block;
using ouro::FrameAllocator;
using ouro::StackAllocator;
using ouro::Status;

std::optional<BlockInfo> find_by_name(std::string_view name) {
    std::optional<BlockInfo> found;
    ouro::visit_blocks([&](const BlockInfo& block) {
        if (block.name() == name) found = block;
    });
    return found;
}

TEST(BlockRegistry, AnEntryLivesAsLongAsItsOwner) {
    BlockHandle handle;
    {
        const BlockRegistration entry({.name = "arena", .base = &handle, .reserved_bytes = 4096});
        ASSERT_TRUE(entry.is_listed());
        handle = entry.handle();
        const auto info = find_block(handle);
        ASSERT_TRUE(info);
        EXPECT_EQ(info->name(), "arena");
        EXPECT_EQ(info->base, reinterpret_cast<std::uintptr_t>(&handle));
        EXPECT_EQ(info->reserved_bytes, 4096U);
        EXPECT_EQ(info->kind, BlockKind::own);
        EXPECT_EQ(info->handle, handle);
    }
    EXPECT_EQ(find_block(handle).status(), Status::stale_handle);
    EXPECT_FALSE(find_by_name("arena"));
    // The next owner of the entry has another handle.
    const BlockRegistration next({.name = "next"});
    EXPECT_NE(next.handle(), handle);
    EXPECT_EQ(find_block(handle).status(), Status::stale_handle);
}

TEST(BlockRegistry, UpdatesAreSeenAndThePeakStays) {
    BlockRegistration entry({.name = "updated", .reserved_bytes = 1000});
    entry.update(500, 400);
    entry.update(200, 100);
    const auto info = find_block(entry.handle());
    ASSERT_TRUE(info);
    EXPECT_EQ(info->committed_bytes, 200U);
    EXPECT_EQ(info->cursor_bytes, 100U);
    EXPECT_EQ(info->peak_bytes, 400U);
}

TEST(BlockRegistry, AnEntryMovesWithItsOwner) {
    BlockRegistration first({.name = "moved"});
    const BlockHandle handle = first.handle();
    BlockRegistration second = std::move(first);
    EXPECT_EQ(second.handle(), handle);
    BlockRegistration other({.name = "replaced"});
    other = std::move(second);
    EXPECT_EQ(other.handle(), handle);
    EXPECT_TRUE(find_by_name("moved"));
    EXPECT_FALSE(find_by_name("replaced"));
}

TEST(BlockRegistry, LongNamesAreCut) {
    const std::string name(100, 'n');
    const BlockRegistration entry({.name = name});
    const auto info = find_block(entry.handle());
    ASSERT_TRUE(info);
    EXPECT_EQ(info->name(), std::string(ouro::kBlockNameBytes - 1, 'n'));
}

TEST(BlockRegistry, AFullTableCountsWhatItCannotList) {
    std::vector<BlockInfo> before(ouro::kMaxListedBlocks);
    const std::size_t listed = ouro::snapshot_blocks(before);
    const std::size_t unlisted = ouro::unlisted_block_count();
    {
        std::vector<BlockRegistration> entries;
        for (std::size_t i = listed; i < ouro::kMaxListedBlocks; ++i)
            entries.emplace_back(ouro::BlockDescription{.name = "filling"});
        EXPECT_EQ(ouro::snapshot_blocks({}), ouro::kMaxListedBlocks);
        EXPECT_EQ(ouro::unlisted_block_count(), unlisted);
        BlockRegistration extra({.name = "extra"});
        EXPECT_FALSE(extra.is_listed());
        extra.update(1, 1);
        EXPECT_EQ(ouro::unlisted_block_count(), unlisted + 1);
        auto frame = FrameAllocator::create({.max_bytes = 65536});
        ASSERT_TRUE(frame);
        EXPECT_TRUE(frame->allocate(100));
        EXPECT_EQ(ouro::unlisted_block_count(), unlisted + 2);
    }
    EXPECT_EQ(ouro::snapshot_blocks({}), listed);
    EXPECT_EQ(ouro::unlisted_block_count(), unlisted);
}

TEST(BlockRegistry, FramesAndStacksAreListed) {
    const auto tag = ouro::register_tag("registry test");
    ASSERT_TRUE(tag);
    auto frame = FrameAllocator::create(
        {.name = "listed frame", .tag = *tag, .max_bytes = std::size_t{1} << 20, .commit_step_bytes = 65536});
    ASSERT_TRUE(frame);
    auto stack = StackAllocator::create_on(*frame, 70'000, "listed stack");
    ASSERT_TRUE(stack);
    const auto frame_info = find_by_name("listed frame");
    const auto stack_info = find_by_name("listed stack");
    ASSERT_TRUE(frame_info && stack_info);
    EXPECT_EQ(frame_info->tag, *tag);
    EXPECT_EQ(frame_info->kind, BlockKind::own);
    EXPECT_EQ(frame_info->reserved_bytes, std::size_t{1} << 20);
    EXPECT_EQ(frame_info->committed_bytes, frame->committed_bytes());
    EXPECT_EQ(frame_info->cursor_bytes, 70'000U);
    EXPECT_EQ(stack_info->kind, BlockKind::borrowed);
    EXPECT_EQ(stack_info->base, frame_info->base);
    EXPECT_EQ(stack_info->committed_bytes, 70'000U);
}

TEST(BlockRegistry, PublishingBringsAnEntryUpToDate) {
    auto made = FrameAllocator::create({.name = "published", .max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(made);
    FrameAllocator frame = *std::move(made);
    ASSERT_TRUE(frame.allocate(100));
    ASSERT_TRUE(frame.allocate(5000));
    frame.reset();
    ASSERT_TRUE(frame.allocate(300));
    frame.publish();
    const auto info = find_by_name("published");
    ASSERT_TRUE(info);
    EXPECT_EQ(info->cursor_bytes, 300U);
    EXPECT_EQ(info->peak_bytes, frame.stats().peak_bytes);
}

// What a debugger or a reader of core files sees: bytes under a symbol, found by the layout alone.
TEST(BlockRegistry, TheTableReadsAsPlainBytes) {
    BlockRegistration entry({.name = "plain", .base = &entry, .reserved_bytes = 123});
    entry.update(100, 50);
    const auto* bytes = reinterpret_cast<const unsigned char*>(&ouro::ouro_block_table);
    EXPECT_STREQ(reinterpret_cast<const char*>(bytes), "ouroblk");
    std::uint32_t entry_bytes = 0;
    std::memcpy(&entry_bytes, bytes + 12, sizeof(entry_bytes));
    const unsigned char* line = bytes + 32 + static_cast<std::size_t>(entry.handle().index()) * entry_bytes;
    std::uint32_t generation = 0;
    std::memcpy(&generation, line, sizeof(generation));
    EXPECT_EQ(generation % 2, 1U);
    std::uint64_t numbers[5];
    std::memcpy(numbers, line + 8, sizeof(numbers));
    EXPECT_EQ(numbers[0], reinterpret_cast<std::uintptr_t>(&entry));
    EXPECT_EQ(numbers[1], 123U);
    EXPECT_EQ(numbers[2], 100U);
    EXPECT_EQ(numbers[3], 50U);
    EXPECT_STREQ(reinterpret_cast<const char*>(line + 48), "plain");
}

TEST(BlockRegistry, KindsHaveNames) {
    EXPECT_EQ(ouro::block_kind_name(BlockKind::own), "own");
    EXPECT_EQ(ouro::block_kind_name(BlockKind::borrowed), "part");
    EXPECT_EQ(ouro::block_kind_name(BlockKind::scattered), "scattered");
    EXPECT_EQ(ouro::block_kind_name(static_cast<BlockKind>(9)), "unknown");
}

}  // namespace
