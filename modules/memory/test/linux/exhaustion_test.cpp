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
    return status == Status::capacity_exhausted || status == Status::out_of_memory ||
           status == Status::out_of_address_space;
}

// What the child tells by its exit code.
enum class Outcome : int {
    good,
    no_limit,
    never_ran_out,
    ran_out_at_once,
    others_damaged,
    not_usable_again,
    wrong_status,
    damaged_when_full,
};

constexpr auto kStayUnbuilt = Composition::WhenRefused::stay_unbuilt;
constexpr std::size_t kPartBytes = 2 * kMebibyte;

// Large, so that memory is used up in few steps, where the composition serves such blocks.
std::size_t step_of(const Composition& built) {
    return std::min(kMebibyte, built.traits().max_size);
}

// The addresses that one composition takes at its creation and for its first block.
std::size_t appetite_of(const std::string& text) {
    const std::size_t before = address_space_in_use();
    Composition built(text, kPartBytes, kStayUnbuilt);
    if (!built.is_built() || !built.resource().allocate(step_of(built), 16)) return 0;
    return address_space_in_use() - before;
}

// Takes all that one resource gives, when the process has fewer addresses than it may hold.
Outcome use_up(Composition& built, std::size_t bytes) {
    MemoryResource& resource = built.resource();
    const std::size_t step = step_of(built);
    std::vector<MemoryBlock> blocks;
    Status status = Status::ok;
    while (status == Status::ok && blocks.size() <= bytes / step) {
        const auto block = resource.allocate(step, 16);
        status = block.status();
        if (!block) break;
        block->data[0] = std::byte{1};
        blocks.push_back(*block);
    }
    if (!is_exhaustion(status)) return Outcome::wrong_status;
    for (; !blocks.empty(); blocks.pop_back())
        resource.deallocate(blocks.back(), 16);
    return resource.check() == Status::ok ? Outcome::good : Outcome::damaged_when_full;
}

// As many as there are addresses for; each that was built goes on working.
Outcome build_many(const std::string& text, std::size_t most) {
    std::vector<std::unique_ptr<Composition>> all;
    for (bool has_room = true; has_room;) {
        if (all.size() == most) return Outcome::never_ran_out;
        all.push_back(std::make_unique<Composition>(text, kPartBytes, kStayUnbuilt));
        // Some take addresses only as they need them.
        const auto block = all.back()->is_built() ? all.back()->resource().allocate(step_of(*all.back()), 16)
                                                  : ouro::Expected<MemoryBlock>(Status::out_of_memory);
        if (!is_exhaustion(block.status()) && !block) return Outcome::wrong_status;
        has_room = block.status() == Status::ok;
    }
    all.pop_back();
    if (all.empty()) return Outcome::ran_out_at_once;
    for (const auto& built : all) {
        if (built->resource().check() != Status::ok) return Outcome::others_damaged;
        if (const auto block = built->resource().allocate(100, 16)) built->resource().deallocate(*block, 16);
    }
    return Outcome::good;
}

Outcome run_out_of_addresses(const std::string& text) {
    constexpr std::size_t kRoomFor = 10;
    const std::size_t appetite = appetite_of(text);
    const std::size_t room = kRoomFor * appetite + 16 * kMebibyte;
    if (appetite == 0 || !limit_addresses(room)) return Outcome::no_limit;
    Outcome outcome = build_many(text, 10 * kRoomFor);
    if (outcome != Outcome::good) return outcome;
    // Where room is for gigabytes of records, filling it with memory would take too much of that.
    constexpr std::size_t kMostToFill = 1024 * kMebibyte;
    if (room < kMostToFill) {
        Composition large(text, 2 * room, kStayUnbuilt);
        if (large.is_built()) outcome = use_up(large, 2 * room);
        if (outcome != Outcome::good) return outcome;
    }
    const Composition again(text, kPartBytes, kStayUnbuilt);
    return again.is_built() ? Outcome::good : Outcome::not_usable_again;
}

TEST_P(Exhaustion, TooFewAddressesAreAStatus) {
    const std::string text = GetParam();
    const int outcome = run_in_child([&] { return static_cast<int>(run_out_of_addresses(text)); });
    EXPECT_EQ(static_cast<Outcome>(outcome), Outcome::good);
}

INSTANTIATE_TEST_SUITE_P(Compositions, Exhaustion, testing::ValuesIn(composition_table()),
                         [](const testing::TestParamInfo<std::string>& test) {
                             return composition_label(test.param);
                         });

}  // namespace
