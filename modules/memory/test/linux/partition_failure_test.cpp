#include <ouro/memory/partition_allocator.hpp>
#include <ouro/os/fault_injection.hpp>

#include <cerrno>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::PartitionAllocator;
using ouro::PartitionGuards;
using ouro::PartitionOptions;
using ouro::Status;
using ouro::ThreadSafety;
using ouro::os::OsCall;
namespace inject = ouro::os::fault_injection;

// Small and large blocks, in place and moved, freed and given back. Counts what failed.
unsigned use(PartitionAllocator& set) {
    unsigned failures = 0;
    std::vector<MemoryBlock> blocks;
    const auto keep = [&](const ouro::Expected<MemoryBlock>& block) {
        failures += block ? 0U : 1U;
        if (block) blocks.push_back(*block);
    };
    for (int i = 0; i < 200; ++i)
        keep(set[0].allocate(1000));
    keep(set[0].allocate(100'000));
    if (!blocks.empty()) {
        const auto larger = set[0].reallocate(blocks.back(), 300'000);
        failures += larger ? 0U : 1U;
        if (larger) blocks.back() = *larger;
    }
    for (const MemoryBlock block : blocks)
        set[0].deallocate(block);
    set.trim();
    return failures;
}

TEST(PartitionFailure, EveryFailureIsAStatusAndThePartitionGoesOn) {
    for (const PartitionGuards guards :
         {PartitionGuards::none, PartitionGuards::spans, PartitionGuards::blocks}) {
        const PartitionOptions part{
            .max_bytes = std::size_t{32} << 20, .guards = guards, .keep_empty_bytes = 0};
        unsigned fired = 0;
        for (const OsCall call : {OsCall::protect_memory, OsCall::map_memory, OsCall::query_mapping}) {
            for (std::uint64_t nth = 1;; ++nth) {
                SCOPED_TRACE(std::string(inject::name_of(call)) + " " + std::to_string(nth));
                auto set = PartitionAllocator::create({.partitions = {&part, 1}});
                ASSERT_TRUE(set);
                inject::fail_nth(call, nth, ENOMEM);
                const unsigned failures = use(*set);
                const bool has_fired = inject::has_fired();
                inject::clear();
                ASSERT_EQ(set->check(), Status::ok);
                ASSERT_EQ(set->stats().live_blocks, 0U);
                ASSERT_EQ(set->stats().failures, failures);
                ASSERT_EQ(use(*set), 0U);
                ASSERT_EQ(set->stats().committed_bytes, 0U);
                if (!has_fired) break;
                ++fired;
                // One in each of the first, then some: every place has failed by then.
                if (nth > 30) nth += 37;
            }
        }
        EXPECT_GT(fired, 10U);
    }
}

TEST(PartitionFailure, ForAnyThreadEveryFailureIsAStatusAndThePartitionGoesOn) {
    const PartitionOptions part{
        .max_bytes = std::size_t{32} << 20, .thread_safety = ThreadSafety::any_thread, .keep_empty_bytes = 0};
    unsigned fired = 0;
    for (const OsCall call : {OsCall::protect_memory, OsCall::map_memory, OsCall::query_mapping}) {
        for (std::uint64_t nth = 1;; ++nth) {
            SCOPED_TRACE(std::string(inject::name_of(call)) + " " + std::to_string(nth));
            inject::fail_nth(call, nth, ENOMEM);
            auto set = PartitionAllocator::create({.partitions = {&part, 1}});
            const bool in_creation = inject::has_fired();
            if (set) {
                const std::uint64_t failures = use(*set);
                const bool has_fired = inject::has_fired();
                inject::clear();
                ASSERT_FALSE(in_creation);
                ASSERT_EQ(set->check(), Status::ok);
                ASSERT_EQ(set->stats().live_blocks, 0U);
                ASSERT_EQ(set->stats().failures, failures);
                ASSERT_EQ(use(*set), 0U);
                if (!has_fired) break;
            }
            inject::clear();
            ++fired;
        }
    }
    EXPECT_GT(fired, 3U);
}

TEST(PartitionFailure, CreationTellsWhy) {
    const PartitionOptions part{.max_bytes = std::size_t{1} << 20};
    const auto status_for = [&](OsCall call, std::uint64_t nth) {
        inject::fail_nth(call, nth, ENOMEM);
        const Status status = PartitionAllocator::create({.partitions = {&part, 1}}).status();
        EXPECT_TRUE(inject::has_fired());
        inject::clear();
        return status;
    };
    EXPECT_EQ(status_for(OsCall::map_memory, 1), Status::out_of_address_space);
    EXPECT_EQ(status_for(OsCall::map_memory, 2), Status::out_of_address_space);
    EXPECT_EQ(status_for(OsCall::protect_memory, 1), Status::out_of_memory);
}

}  // namespace
