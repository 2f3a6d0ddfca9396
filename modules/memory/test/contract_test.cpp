// What the contract promises, asked of every strategy, and of strategies on strategies, through the base
// type.
#include "composition.hpp"
#include "resource_model.hpp"

#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/seal.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::MemoryResource;
using ouro::Status;
using ouro::testing_support::Composition;
using ouro::testing_support::composition_label;
using ouro::testing_support::composition_table;
using ouro::testing_support::random_composition;
using ouro::testing_support::ResourceModel;

constexpr std::size_t kBytes = std::size_t{4} << 20;

class Contract : public testing::TestWithParam<std::string> {
protected:
    void SetUp() override { ASSERT_TRUE(built_.is_built()); }

    [[nodiscard]] MemoryResource& resource() { return built_.resource(); }

    Composition built_{GetParam(), kBytes};
};

TEST_P(Contract, SenselessRequestsHaveTheirStatus) {
    EXPECT_EQ(resource().allocate(0, 16).status(), Status::zero_size);
    EXPECT_EQ(resource().allocate(16, 0).status(), Status::bad_alignment);
    EXPECT_EQ(resource().allocate(16, 24).status(), Status::bad_alignment);
    EXPECT_EQ(resource().stats().live_bytes, 0U);
    EXPECT_EQ(resource().check(), Status::ok);
    const auto block = resource().allocate(16, 16);
    ASSERT_TRUE(block);
    resource().deallocate(*block, 16);
}

TEST_P(Contract, MoreThanThereIsHasItsStatus) {
    if (!built_.traits().bounded) return;
    const Status status = resource().allocate(2 * kBytes, 16).status();
    if (built_.traits().max_size == SIZE_MAX) {
        EXPECT_EQ(status, Status::capacity_exhausted);
    } else {
        EXPECT_NE(status, Status::ok);
    }
    EXPECT_EQ(resource().stats().live_bytes, 0U);
}

TEST_P(Contract, NullIsFreedAndReallocatedLikeNothing) {
    const std::size_t alignment = std::min<std::size_t>(64, built_.traits().max_alignment);
    const std::size_t size = std::min<std::size_t>(100, built_.traits().max_size);
    resource().deallocate({}, 16);
    const auto block = resource().reallocate({}, size, alignment);
    ASSERT_TRUE(block);
    EXPECT_GE(block->size, size);
    EXPECT_EQ(resource().reallocate(*block, 0, alignment).status(), Status::zero_size);
    EXPECT_NE(resource().reallocate(*block, SIZE_MAX - 4096, alignment).status(), Status::ok);
    if (built_.traits().bounded) {
        EXPECT_NE(resource().reallocate(*block, 2 * kBytes, alignment).status(), Status::ok);
    }
    resource().deallocate(*block, alignment);
    EXPECT_EQ(resource().check(), Status::ok);
}

TEST_P(Contract, ExhaustionIsAStatusAndPasses) {
    if (!built_.traits().bounded) return;
    const std::size_t size = std::min<std::size_t>(65536, built_.traits().max_size);
    std::vector<MemoryBlock> blocks;
    Status status = Status::ok;
    while (status == Status::ok) {
        const auto block = resource().allocate(size, 16);
        status = block.status();
        if (block) blocks.push_back(*block);
    }
    EXPECT_EQ(status, Status::capacity_exhausted);
    EXPECT_GE(blocks.size() * size, kBytes / 2);
    EXPECT_GE(resource().stats().failures, 1U);
    EXPECT_EQ(resource().check(), Status::ok);
    resource().deallocate(blocks.back(), 16);
    const auto again = resource().allocate(size - size / 10, 16);
    ASSERT_TRUE(again);
    blocks.back() = *again;
    for (; !blocks.empty(); blocks.pop_back())
        resource().deallocate(blocks.back(), 16);
    EXPECT_EQ(resource().check(), Status::ok);
}

TEST_P(Contract, EachIsEqualToItselfOnly) {
    Composition other(GetParam(), kBytes);
    EXPECT_TRUE(resource().is_equal(resource()));
    EXPECT_FALSE(resource().is_equal(other.resource()));
    EXPECT_FALSE(resource().info().name.empty());
}

TEST_P(Contract, ItsPartsAreListed) {
    std::vector<ouro::BlockInfo> blocks(ouro::kMaxListedBlocks);
    blocks.resize(std::min(ouro::snapshot_blocks(blocks), blocks.size()));
    for (const std::string& name : built_.listed_names()) {
        const auto found =
            std::ranges::find_if(blocks, [&](const ouro::BlockInfo& block) { return block.name() == name; });
        EXPECT_NE(found, blocks.end()) << name;
    }
}

TEST_P(Contract, MarksFreeWhatCameAfterThem) {
    const std::size_t size = std::min<std::size_t>(100, built_.traits().max_size);
    const auto kept = resource().allocate(size, 16);
    ASSERT_TRUE(kept);
    std::memset(kept->data, 42, size);
    const auto before = resource().stats();
    const auto mark = resource().place_mark();
    if (!mark) {
        EXPECT_EQ(mark.status(), Status::not_supported);
        return resource().deallocate({kept->data, size}, 16);
    }
    for (int i = 0; i < 100; ++i)
        ASSERT_TRUE(resource().allocate(size, 16));
    EXPECT_GT(resource().stats().live_bytes, before.live_bytes);
    resource().free_since(*mark);
    EXPECT_EQ(resource().stats().live_bytes, before.live_bytes);
    EXPECT_EQ(resource().stats().live_blocks, before.live_blocks);
    EXPECT_EQ(resource().check(), Status::ok);
    EXPECT_EQ(std::count(kept->data, kept->data + size, std::byte{42}), static_cast<std::ptrdiff_t>(size));
    resource().deallocate({kept->data, size}, 16);
}

TEST_P(Contract, ASealIsKept) {
    if (!built_.traits().keeps_seal) return;
    const std::size_t size = std::min<std::size_t>(65536, built_.traits().max_size);
    std::vector<MemoryBlock> blocks;
    for (int i = 0; i < 8; ++i) {
        const auto block = resource().allocate(size, 16);
        ASSERT_TRUE(block);
        blocks.push_back(*block);
    }
    const std::size_t committed = resource().stats().committed_bytes;
    const ouro::SealScope sealed;
    for (; !blocks.empty(); blocks.pop_back())
        resource().deallocate(blocks.back(), 16);
    Status status = Status::ok;
    while (status == Status::ok) {
        const auto block = resource().allocate(size, 16);
        status = block.status();
        if (block) blocks.push_back(*block);
    }
    EXPECT_TRUE(status == Status::sealed || status == Status::capacity_exhausted)
        << ouro::status_name(status);
    // What was there before the seal is there again, where freeing gives anything back.
    if (resource().info().frees_blocks) {
        EXPECT_GE(blocks.size(), 8U);
    }
    EXPECT_LE(resource().stats().committed_bytes, committed);
    EXPECT_EQ(resource().check(), Status::ok);
    for (; !blocks.empty(); blocks.pop_back())
        resource().deallocate(blocks.back(), 16);
}

void drive_with_random_calls(const std::string& text, std::uint64_t seed, int steps) {
    SCOPED_TRACE(text + ", seed " + std::to_string(seed));
    Composition built(text, kBytes);
    ASSERT_TRUE(built.is_built());
    ResourceModel model(built.resource(), built.limits(), seed);
    for (int step = 0; step < steps; ++step) {
        model.step();
        if (testing::Test::HasFatalFailure()) return;
        ASSERT_TRUE(step % 500 != 0 || built.resource().check() == Status::ok);
    }
    model.free_all();
    ASSERT_EQ(built.resource().check(), Status::ok);
}

TEST_P(Contract, RandomCallsKeepEveryByte) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed)
        ASSERT_NO_FATAL_FAILURE(drive_with_random_calls(GetParam(), seed, 5000));
}

INSTANTIATE_TEST_SUITE_P(Compositions, Contract, testing::ValuesIn(composition_table()),
                         [](const testing::TestParamInfo<std::string>& test) {
                             return composition_label(test.param);
                         });

TEST(RandomCompositions, KeepEveryByte) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed)
        ASSERT_NO_FATAL_FAILURE(drive_with_random_calls(random_composition(seed), seed, 1000));
}

}  // namespace
