// What is full says so and goes on: a fixed region, a budget and the addresses of the process, for every
// strategy alone and on others.
#include "child_process.hpp"
#include "composition.hpp"
#include "resource_model.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/tagged_allocator.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {

using ouro::MemoryBlock;
using ouro::MemoryResource;
using ouro::Random;
using ouro::Status;
using ouro::TaggedAllocator;
using ouro::os::testing_support::run_in_child;
using ouro::testing_support::Composition;
using ouro::testing_support::composition_label;
using ouro::testing_support::composition_table;
using ouro::testing_support::ResourceModel;

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

class Exhaustion : public testing::TestWithParam<std::string> {};

// Blocks of random sizes until none is left for even the smallest. Returns their bytes.
std::size_t fill_up(MemoryResource& resource, std::size_t max_size, std::vector<MemoryBlock>& blocks) {
    Random random(5);
    std::size_t bytes = 0;
    for (std::size_t limit = max_size; limit != 0;) {
        const std::size_t size = 1 + random.below(static_cast<std::uint32_t>(limit));
        const auto block = resource.allocate(size, 8);
        if (block) {
            bytes += size;
            blocks.push_back({block->data, size});
            continue;
        }
        EXPECT_EQ(block.status(), Status::capacity_exhausted) << status_name(block.status());
        limit /= 2;
    }
    return bytes;
}

TEST_P(Exhaustion, AFullRegionIsAStatusAndServesAgain) {
    Composition built(GetParam(), kMebibyte);
    ASSERT_TRUE(built.is_built());
    if (!built.traits().bounded) return;
    MemoryResource& resource = built.resource();
    const std::size_t max_size = std::min<std::size_t>(3000, built.traits().max_size);
    std::size_t first_bytes = 0;
    for (int round = 0; round < 3; ++round) {
        std::vector<MemoryBlock> blocks;
        const std::size_t bytes = fill_up(resource, max_size, blocks);
        if (round == 0) first_bytes = bytes;
        ASSERT_FALSE(blocks.empty());
        EXPECT_NE(resource.reallocate(blocks.back(), 8 * kMebibyte, 8).status(), Status::ok);
        EXPECT_EQ(resource.check(), Status::ok);
        for (; !blocks.empty(); blocks.pop_back())
            resource.deallocate(blocks.back(), 8);
        EXPECT_EQ(resource.check(), Status::ok);
        if (!resource.info().frees_blocks) return;
        EXPECT_EQ(resource.stats().live_blocks, 0U);
        EXPECT_GE(bytes, first_bytes - first_bytes / 8) << "round " << round;
    }
}

TEST_P(Exhaustion, ABudgetIsNeverPassed) {
    constexpr std::size_t kBudget = 50'000;
    Composition built(GetParam(), 4 * kMebibyte);
    ASSERT_TRUE(built.is_built());
    TaggedAllocator tagged(built.resource(), {.name = "poor", .budget_bytes = kBudget});
    ResourceModel::Limits limits = built.limits();
    limits.max_live_blocks = kBudget;
    limits.other_refusal = Status::budget_exceeded;
    ResourceModel model(tagged, limits, 3);
    for (int step = 0; step < 5000; ++step) {
        model.step();
        ASSERT_LE(tagged.counts().live_bytes, kBudget);
        ASSERT_EQ(tagged.counts().live_blocks, model.live_blocks());
        if (HasFailure()) return;
    }
    EXPECT_GT(tagged.failures(Status::budget_exceeded), 0U);
    EXPECT_EQ(tagged.check(), Status::ok);
    model.verify_all();
    model.free_all();
    EXPECT_EQ(tagged.counts().live_bytes, 0U);
    EXPECT_EQ(tagged.check(), Status::ok);
}

// The addresses the process has already, in bytes.
std::size_t address_space_in_use() {
    std::size_t pages = 0;
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr) return 0;
    if (std::fscanf(file, "%zu", &pages) != 1) pages = 0;
    std::fclose(file);
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

bool limit_addresses(std::size_t more_bytes) {
    const std::size_t used = address_space_in_use();
    const rlimit limit{used + more_bytes, used + more_bytes};
    return used != 0 && ::setrlimit(RLIMIT_AS, &limit) == 0;
}

bool is_exhaustion(Status status) {
    return status == Status::capacity_exhausted || status == Status::out_of_memory;
}

// Takes all that one resource gives while the process has too few addresses for what it may hold.
int use_up(MemoryResource& resource, std::size_t most_blocks) {
    std::vector<MemoryBlock> blocks;
    blocks.reserve(most_blocks);
    Status status = Status::ok;
    while (status == Status::ok && blocks.size() < most_blocks) {
        const auto block = resource.allocate(kMebibyte, 16);
        status = block.status();
        if (block) blocks.push_back(*block);
        if (block) block->data[block->size - 1] = std::byte{1};
    }
    if (!is_exhaustion(status)) return 11;
    for (; !blocks.empty(); blocks.pop_back())
        resource.deallocate(blocks.back(), 16);
    return resource.check() == Status::ok ? 0 : 12;
}

int build_without_addresses(const std::string& text) {
    constexpr std::size_t kMost = 400;
    std::vector<std::unique_ptr<Composition>> all;
    all.reserve(kMost);
    if (!limit_addresses(256 * kMebibyte)) return 1;
    constexpr auto kStayUnbuilt = Composition::WhenRefused::stay_unbuilt;
    do {
        all.push_back(std::make_unique<Composition>(text, 2 * kMebibyte, kStayUnbuilt));
        if (!all.back()->is_built()) break;
        // Some take addresses only as they need them.
        if (!all.back()->resource().allocate(kMebibyte, 16)) break;
    } while (all.size() < kMost);
    if (all.size() == kMost) return 2;
    if (all.size() < 2) return 3;
    all.pop_back();
    for (const auto& built : all) {
        if (built->resource().check() != Status::ok) return 4;
        if (const auto block = built->resource().allocate(100, 16)) built->resource().deallocate(*block, 16);
    }
    all.clear();
    Composition large(text, 1024 * kMebibyte, kStayUnbuilt);
    if (large.is_built()) {
        if (const int outcome = use_up(large.resource(), 1100); outcome != 0) return outcome;
    }
    const Composition again(text, 2 * kMebibyte, kStayUnbuilt);
    return again.is_built() ? 0 : 5;
}

TEST_P(Exhaustion, TooFewAddressesAreAStatus) {
    const std::string text = GetParam();
    EXPECT_EQ(run_in_child([&] { return build_without_addresses(text); }), 0)
        << "1: no limit; 2: it never ran out; 3: it ran out at once; 4: one that was there is damaged;\n"
           "5: what was given back is not usable; 11: the status says something else; 12: damaged when full";
}

INSTANTIATE_TEST_SUITE_P(Compositions, Exhaustion, testing::ValuesIn(composition_table()),
                         [](const testing::TestParamInfo<std::string>& test) {
                             return composition_label(test.param);
                         });

}  // namespace
