#include "bad_requests.hpp"
#include "fresh_tags.hpp"

#include <ouro/memory/observer.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/observe/budget.hpp>
#include <ouro/observe/charged_allocator.hpp>
#include <ouro/observe/events.hpp>
#include <ouro/observe/ledger.hpp>

#include <cstring>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using test::fresh_tag;

class ChargedAllocatorTest : public testing::Test {
protected:
    SmallObjectAllocator heap_ = *SmallObjectAllocator::create({});
    Tag tag_ = fresh_tag();
};

TEST_F(ChargedAllocatorTest, ChargesTheCurrentTagAndCreditsTheBlocksOwn) {
    ChargedAllocator memory(heap_);
    Expected<MemoryBlock> block = Status::not_found;
    {
        const TagScope scope(tag_);
        block = memory.allocate(100);
    }
    ASSERT_TRUE(block);
    EXPECT_EQ(block->size, 100U);
    EXPECT_EQ(use_of(tag_).live_bytes, 100U);
    const Tag other = fresh_tag();
    const TagScope scope(other);
    memory.deallocate(*block);
    EXPECT_EQ(use_of(tag_).live_bytes, 0U);
    EXPECT_EQ(use_of(other).frees, 0U);
}

TEST_F(ChargedAllocatorTest, ATagOfItsOwnGoesFirst) {
    ChargedAllocator memory(heap_, tag_);
    const TagScope scope(fresh_tag());
    const auto block = memory.allocate(10);
    ASSERT_TRUE(block);
    EXPECT_EQ(use_of(tag_).live_bytes, 10U);
    memory.deallocate(*block);
    EXPECT_EQ(use_of(tag_).live_blocks, 0U);
}

TEST_F(ChargedAllocatorTest, ReallocationKeepsTagAndBytes) {
    ChargedAllocator memory(heap_, tag_);
    auto block = memory.allocate(100);
    ASSERT_TRUE(block);
    std::memset(block->data, 0x5a, block->size);
    block = memory.reallocate(*block, 5'000);
    ASSERT_TRUE(block);
    EXPECT_EQ(use_of(tag_).live_bytes, 5'000U);
    EXPECT_EQ(use_of(tag_).live_blocks, 1U);
    EXPECT_EQ(block->data[99], std::byte{0x5a});
    block = memory.reallocate(*block, 20);
    ASSERT_TRUE(block);
    EXPECT_EQ(use_of(tag_).live_bytes, 20U);
    EXPECT_EQ(block->data[19], std::byte{0x5a});
    memory.deallocate(*block);
    EXPECT_EQ(use_of(tag_).live_bytes, 0U);
    EXPECT_EQ(heap_.stats().live_blocks, 0U);
    EXPECT_EQ(check_ledger(), Status::ok);
}

TEST_F(ChargedAllocatorTest, OverBudgetNothingIsAskedOfTheResource) {
    ChargedAllocator memory(heap_, tag_);
    ASSERT_TRUE(set_budget(tag_, {.hard_bytes = 150}));
    const auto block = memory.allocate(100);
    ASSERT_TRUE(block);
    const std::uint64_t allocations = heap_.stats().allocations;
    EXPECT_EQ(memory.allocate(51).status(), Status::budget_exceeded);
    EXPECT_EQ(memory.reallocate(*block, 151).status(), Status::budget_exceeded);
    EXPECT_EQ(heap_.stats().allocations, allocations);
    const auto grown = memory.reallocate(*block, 150);
    ASSERT_TRUE(grown);
    memory.deallocate(*grown);
    EXPECT_EQ(use_of(tag_).live_bytes, 0U);
}

// Of one tag.
class CountingObserver final : public MemoryObserver {
public:
    explicit CountingObserver(Tag tag) : tag_(tag) { EXPECT_TRUE(add_observer(*this)); }
    ~CountingObserver() { EXPECT_TRUE(remove_observer(*this)); }
    CountingObserver(const CountingObserver&) = delete;
    CountingObserver& operator=(const CountingObserver&) = delete;

    void on_allocate(const MemoryEvent& event) noexcept override { allocations += event.tag == tag_; }
    void on_deallocate(const MemoryEvent& event) noexcept override { frees += event.tag == tag_; }
    void on_reallocate(const MemoryEvent& event) noexcept override { resizes += event.tag == tag_; }
    void on_failure(const MemoryEvent& event) noexcept override {
        if (event.tag != tag_) return;
        ++failures;
        last_failure = event;
    }

    unsigned allocations = 0;
    unsigned frees = 0;
    unsigned resizes = 0;
    unsigned failures = 0;
    MemoryEvent last_failure;

private:
    Tag tag_;
};

// Each one, however many there are in a row; the ring of events tells of some of them, with a count.
TEST_F(ChargedAllocatorTest, EveryRefusalIsAnEventForObservers) {
    ChargedAllocator memory(heap_, tag_);
    ASSERT_TRUE(set_budget(tag_, {.hard_bytes = 1'000}));
    const CountingObserver observer(tag_);
    const auto block = memory.allocate(600);
    ASSERT_TRUE(block);
    constexpr unsigned kRefusals = 50;
    for (unsigned i = 0; i < kRefusals; ++i)
        EXPECT_EQ(memory.allocate(401 + i).status(), Status::budget_exceeded);
    EXPECT_EQ(observer.failures, kRefusals);
    EXPECT_EQ(observer.last_failure.status, Status::budget_exceeded);
    EXPECT_EQ(observer.last_failure.asked_bytes, 400 + kRefusals);
    EXPECT_EQ(memory.reallocate(*block, 1'001).status(), Status::budget_exceeded);
    EXPECT_EQ(observer.last_failure.old_block.data, block->data);
    EXPECT_EQ(observer.failures, use_of(tag_).failures);
    const auto grown = memory.reallocate(*block, 1'000);
    ASSERT_TRUE(grown);
    memory.deallocate(*grown);
    EXPECT_EQ(observer.allocations, 1U);
    EXPECT_EQ(observer.resizes, 1U);
    EXPECT_EQ(observer.frees, 1U);
    EXPECT_EQ(observer.failures, kRefusals + 1);
}

TEST_F(ChargedAllocatorTest, WhatTheResourceRefusesIsNotCharged) {
    ChargedAllocator memory(heap_, tag_);
    EXPECT_FALSE(memory.allocate(std::size_t{1} << (8 * sizeof(void*) - 4)));
    EXPECT_EQ(memory.allocate(0).status(), Status::zero_size);
    EXPECT_EQ(memory.allocate(16, 3).status(), Status::bad_alignment);
    EXPECT_EQ(use_of(tag_).live_bytes, 0U);
    EXPECT_EQ(use_of(tag_).allocations, 0U);
    EXPECT_EQ(use_of(tag_).failures, 3U);
    EXPECT_EQ(failures_of(tag_, Status::zero_size), 1U);
    EXPECT_EQ(failures_of(tag_, Status::bad_alignment), 1U);
    EXPECT_EQ(check_ledger(), Status::ok);
}

TEST_F(ChargedAllocatorTest, BadRequestsHaveTheStatusOfTheContractAndChargeNothing) {
    ChargedAllocator memory(heap_, tag_);
    // Counted for the tag: the resource below was not asked.
    testing_support::expect_bad_requests_refused(
        memory, [this](const MemoryResource&) { return use_of(tag_).failures; });
    EXPECT_EQ(memory.stats().failures, 0U);
    testing_support::expect_shortage_of_the_largest(memory);
    EXPECT_EQ(use_of(tag_).live_bytes, 0U);
    EXPECT_EQ(use_of(tag_).allocations, 1U);
    EXPECT_EQ(check_ledger(), Status::ok);
}

TEST_F(ChargedAllocatorTest, WhatFailedNeitherPeaksNorAlarms) {
    ChargedAllocator memory(heap_, tag_);
    constexpr std::size_t kTooMuch = std::size_t{1} << (8 * sizeof(void*) - 4);
    ASSERT_TRUE(set_budget(tag_, {.soft_bytes = 1'000}));
    const auto block = memory.allocate(100);
    ASSERT_TRUE(block);
    const std::uint64_t events = event_count();
    EXPECT_FALSE(memory.allocate(kTooMuch));
    EXPECT_FALSE(memory.reallocate(*block, kTooMuch));
    EXPECT_FALSE(memory.try_resize(*block, kTooMuch));
    EXPECT_EQ(use_of(tag_).peak_bytes, 100U);
    EXPECT_EQ(event_count(), events);
    // That a block does not grow in place is no failure.
    EXPECT_EQ(use_of(tag_).failures, 2U);
    memory.deallocate(*block);
    EXPECT_EQ(check_ledger(), Status::ok);
}

TEST_F(ChargedAllocatorTest, CompiledOutItIsTheResourceBelow) {
    ChargedAllocator<SmallObjectAllocator, false> memory(heap_);
    const TagScope scope(tag_);
    const auto block = memory.allocate(100);
    ASSERT_TRUE(block);
    EXPECT_EQ(use_of(tag_).live_bytes, 0U);
    EXPECT_GE(block->size, 100U);
    memory.deallocate(*block);
}

}  // namespace
}  // namespace ouro
