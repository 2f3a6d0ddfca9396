#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/observer.hpp>
#include <ouro/memory/pool_allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>
#include <ouro/memory/tagged_allocator.hpp>

#include <string>
#include <type_traits>

#include <gtest/gtest.h>

namespace {

using ouro::FrameAllocator;
using ouro::MemoryEvent;
using ouro::RateLimit;
using ouro::StackAllocator;
using ouro::Status;
using ouro::TaggedAllocator;

class Tagged : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(stack_); }

    ouro::Expected<StackAllocator> stack_ = StackAllocator::create({.max_bytes = std::size_t{1} << 20});
    TaggedAllocator tagged_{*stack_, {.name = "tagged"}};
};

TEST_F(Tagged, CountsWhatWasAskedForExactly) {
    const auto first = tagged_.allocate(100);
    const auto second = tagged_.allocate(33, 64);
    ASSERT_TRUE(first && second);
    // The stack gives whole units; the tagged block is what was asked for.
    EXPECT_EQ(first->size, 100U);
    EXPECT_EQ(second->size, 33U);
    EXPECT_EQ(tagged_.counts().live_bytes, 133U);
    EXPECT_EQ(tagged_.counts().live_blocks, 2U);
    tagged_.deallocate(*second, 64);
    const auto grown = tagged_.reallocate(*first, 500);
    ASSERT_TRUE(grown);
    EXPECT_EQ(grown->size, 500U);
    EXPECT_EQ(tagged_.counts().live_bytes, 500U);
    EXPECT_EQ(tagged_.counts().peak_bytes, 500U);
    const auto shrunk = tagged_.reallocate(*grown, 7);
    ASSERT_TRUE(shrunk);
    EXPECT_EQ(tagged_.counts().live_bytes, 7U);
    tagged_.deallocate(*shrunk);
    const auto counts = tagged_.counts();
    EXPECT_EQ(counts.live_bytes, 0U);
    EXPECT_EQ(counts.live_blocks, 0U);
    EXPECT_EQ(counts.peak_bytes, 500U);
    EXPECT_EQ(counts.allocations, 2U);
    EXPECT_EQ(counts.deallocations, 2U);
    EXPECT_EQ(counts.reallocations, 2U);
    EXPECT_EQ(counts.allocated_bytes, 100U + 33U + 400U);
    EXPECT_EQ(tagged_.check(), Status::ok);
    EXPECT_EQ(stack_->stats().live_blocks, 0U);
}

TEST_F(Tagged, CountsFailuresByStatus) {
    EXPECT_EQ(tagged_.allocate(0).status(), Status::zero_size);
    EXPECT_EQ(tagged_.allocate(1, 3).status(), Status::bad_alignment);
    EXPECT_EQ(tagged_.allocate(std::size_t{2} << 20).status(), Status::capacity_exhausted);
    EXPECT_EQ(tagged_.allocate(std::size_t{2} << 20).status(), Status::capacity_exhausted);
    EXPECT_EQ(tagged_.failures(Status::zero_size), 1U);
    EXPECT_EQ(tagged_.failures(Status::bad_alignment), 1U);
    EXPECT_EQ(tagged_.failures(Status::capacity_exhausted), 2U);
    EXPECT_EQ(tagged_.failures(Status::out_of_memory), 0U);
    EXPECT_EQ(tagged_.counts().failures, 4U);
    EXPECT_EQ(tagged_.counts().live_bytes, 0U);
    EXPECT_EQ(tagged_.counts().peak_bytes, 0U);
}

TEST_F(Tagged, TheBudgetHoldsToTheByte) {
    tagged_.set_budget(1000);
    const auto block = tagged_.allocate(600);
    ASSERT_TRUE(block);
    EXPECT_EQ(tagged_.allocate(401).status(), Status::budget_exceeded);
    EXPECT_EQ(tagged_.reallocate(*block, 1001).status(), Status::budget_exceeded);
    EXPECT_EQ(tagged_.counts().live_bytes, 600U);
    const auto rest = tagged_.allocate(400);
    ASSERT_TRUE(rest);
    EXPECT_EQ(tagged_.allocate(1).status(), Status::budget_exceeded);
    tagged_.deallocate(*rest);
    // A budget below what is live refuses, and harms nothing.
    tagged_.set_budget(100);
    EXPECT_EQ(tagged_.allocate(1).status(), Status::budget_exceeded);
    const auto smaller = tagged_.reallocate(*block, 50);
    ASSERT_TRUE(smaller);
    EXPECT_TRUE(tagged_.allocate(50));
    tagged_.set_budget(TaggedAllocator::kNoBudget);
    EXPECT_TRUE(tagged_.allocate(5000));
    EXPECT_EQ(tagged_.failures(Status::budget_exceeded), 4U);
}

TEST_F(Tagged, ParentsBoundTheirChildren) {
    tagged_.set_budget(1000);
    TaggedAllocator one(tagged_, {.name = "one", .budget_bytes = 800});
    TaggedAllocator other(tagged_, {.name = "other"});
    ASSERT_TRUE(one.allocate(700));
    EXPECT_EQ(one.allocate(200).status(), Status::budget_exceeded);
    EXPECT_EQ(other.allocate(400).status(), Status::budget_exceeded);
    EXPECT_EQ(other.counts().live_bytes, 0U);
    ASSERT_TRUE(other.allocate(300));
    EXPECT_EQ(tagged_.counts().live_bytes, 1000U);
}

std::uint64_t test_time_ns = 0;

TEST_F(Tagged, TheRateLimitRefillsWithEachInterval) {
    test_time_ns = 5'000'000;
    ASSERT_TRUE(
        tagged_.set_rate_limit({.bytes = 1000, .calls = 3, .interval_ns = 1'000'000, .clock = []() noexcept {
                                    return test_time_ns;
                                }}));
    EXPECT_TRUE(tagged_.allocate(900));
    EXPECT_EQ(tagged_.allocate(101).status(), Status::rate_limited);
    EXPECT_TRUE(tagged_.allocate(50));
    EXPECT_TRUE(tagged_.allocate(50));
    EXPECT_EQ(tagged_.allocate(1).status(), Status::rate_limited);
    EXPECT_EQ(tagged_.failures(Status::rate_limited), 2U);
    EXPECT_EQ(tagged_.counts().live_bytes, 1000U);
    test_time_ns += 1'000'000;
    EXPECT_TRUE(tagged_.allocate(1000));
    EXPECT_EQ(tagged_.allocate(1).status(), Status::rate_limited);
    // A thread that read the clock a little earlier counts with the others.
    test_time_ns -= 1;
    EXPECT_EQ(tagged_.allocate(1).status(), Status::rate_limited);
    tagged_.clear_rate_limit();
    EXPECT_TRUE(tagged_.allocate(1));
}

// Intervals of another length, and pauses longer than the gate can count intervals of, jam nothing: each
// interval lets its calls through, and no more.
TEST_F(Tagged, TheRateLimitOutlivesChangedIntervalsAndLongPauses) {
    constexpr std::uint64_t kMs = 1'000'000;
    constexpr std::uint64_t kSecond = 1'000 * kMs;
    const auto limit_to = [&](std::uint64_t calls, std::uint64_t interval_ns) {
        ASSERT_TRUE(tagged_.set_rate_limit(
            {.calls = calls, .interval_ns = interval_ns, .clock = []() noexcept { return test_time_ns; }}));
    };
    const auto passed = [&](unsigned calls) {
        unsigned count = 0;
        for (unsigned i = 0; i < calls; ++i) {
            if (const auto block = tagged_.allocate(8)) {
                ++count;
                tagged_.deallocate(*block);
            }
        }
        return count;
    };
    test_time_ns = 5'000 * kSecond;
    limit_to(2, kMs);
    EXPECT_EQ(passed(3), 2U);
    limit_to(2, kSecond);
    for (int second = 0; second < 10; ++second) {
        EXPECT_EQ(passed(3), 2U) << second;
        test_time_ns += kSecond;
    }
    limit_to(1, kMs);
    for (const std::uint64_t pause : {2U, 3'600U, 9'000U, 20'000U, 500'000U}) {
        EXPECT_EQ(passed(2), 1U) << pause;
        test_time_ns += pause * kSecond;
        EXPECT_EQ(passed(2), 1U) << pause;
        test_time_ns += kMs;
    }
    tagged_.clear_rate_limit();
}

TEST_F(Tagged, SenselessRateLimitsAreRefused) {
    EXPECT_EQ(tagged_.set_rate_limit({.interval_ns = 0}).status(), Status::bad_argument);
    EXPECT_EQ(tagged_.set_rate_limit({.bytes = RateLimit::kMax + 1}).status(), Status::bad_argument);
    EXPECT_EQ(tagged_.set_rate_limit({.clock = nullptr}).status(), Status::bad_argument);
    EXPECT_TRUE(tagged_.allocate(1));
}

struct Journal final : ouro::MemoryObserver {
    void on_allocate(const MemoryEvent& event) noexcept override { note("allocate", event); }
    void on_deallocate(const MemoryEvent& event) noexcept override { note("deallocate", event); }
    void on_reallocate(const MemoryEvent& event) noexcept override { note("reallocate", event); }
    void on_failure(const MemoryEvent& event) noexcept override { note("failure", event); }

    void note(const char* what, const MemoryEvent& event) {
        text += std::string(what) + " " + std::to_string(event.asked_bytes) + " " +
                std::to_string(event.old_block.size) + " " + std::string(status_name(event.status)) + "\n";
        last = event;
    }

    std::string text;
    MemoryEvent last;
};

TEST(TaggedObserved, EventsTellWhatHappened) {
    auto stack = StackAllocator::create({.max_bytes = 65536});
    const auto tag = ouro::register_tag("tagged test");
    ASSERT_TRUE(stack && tag);
    TaggedAllocator tagged(*stack, {.tag = *tag, .budget_bytes = 100});
    EXPECT_EQ(tagged.info().name, "tagged test");
    Journal journal;
    ASSERT_TRUE(ouro::add_observer(journal));
    const auto block = tagged.allocate(40, 32);
    EXPECT_EQ(journal.last.block, *block);
    EXPECT_EQ(journal.last.tag, *tag);
    EXPECT_EQ(journal.last.resource, &tagged);
    EXPECT_EQ(journal.last.alignment, 32U);
    EXPECT_FALSE(tagged.allocate(90));
    const auto changed = tagged.reallocate(*block, 80, 32);
    EXPECT_FALSE(tagged.reallocate(*changed, 101, 32));
    tagged.deallocate(*changed, 32);
    ASSERT_TRUE(ouro::remove_observer(journal));
    EXPECT_EQ(journal.text,
              "allocate 40 0 ok\n"
              "failure 90 0 budget_exceeded\n"
              "reallocate 80 40 ok\n"
              "failure 101 80 budget_exceeded\n"
              "deallocate 80 0 ok\n");
}

TEST(TaggedOnAFrame, AResetIsTold) {
    auto frame = FrameAllocator::create({.max_bytes = 65536});
    ASSERT_TRUE(frame);
    TaggedAllocator tagged(*frame, {.name = "frame user", .budget_bytes = 1000});
    ASSERT_TRUE(tagged.allocate(1000));
    frame->reset();
    tagged.note_all_freed();
    EXPECT_EQ(tagged.counts().live_blocks, 0U);
    EXPECT_EQ(tagged.check(), Status::ok);
    EXPECT_TRUE(tagged.allocate(1000));
    EXPECT_FALSE(tagged.info().frees_blocks);
}

TEST(TaggedAllocator, CountsStayExactThroughResizesAndMarks) {
    auto frame = ouro::FrameAllocator::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(frame);
    ouro::TaggedAllocator parent(*frame, {.name = "parent", .budget_bytes = 1000});
    ouro::TaggedAllocator tagged(parent, {.name = "child"});
    const auto first = tagged.allocate(100);
    ASSERT_TRUE(first);
    const auto mark = tagged.place_mark();
    ASSERT_TRUE(mark);
    const auto second = tagged.allocate(100);
    ASSERT_TRUE(second);
    EXPECT_EQ(tagged.try_resize(*second, 2000).status(), ouro::Status::budget_exceeded);
    EXPECT_EQ(tagged.try_resize(*first, 200).status(), ouro::Status::capacity_exhausted);
    const auto grown = tagged.try_resize(*second, 300);
    ASSERT_TRUE(grown);
    EXPECT_EQ(grown->data, second->data);
    EXPECT_EQ(tagged.counts().live_bytes, 400U);
    EXPECT_EQ(parent.counts().live_bytes, 400U);
    EXPECT_EQ(tagged.counts().failures, 0U);
    tagged.free_since(*mark);
    for (const ouro::TaggedAllocator* each : {&tagged, &parent}) {
        EXPECT_EQ(each->counts().live_bytes, 100U);
        EXPECT_EQ(each->counts().live_blocks, 1U);
        EXPECT_EQ(each->counts().peak_bytes, 400U);
        EXPECT_EQ(each->check(), ouro::Status::ok);
    }
}

TEST(TaggedAllocator, NoBlockBecomesSmallerWhileAMarkIsOpen) {
    auto frame = ouro::FrameAllocator::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(frame);
    ouro::TaggedAllocator tagged(*frame, {.name = "marked"});
    auto first = tagged.allocate(100);
    ASSERT_TRUE(first);
    const auto outer = tagged.place_mark();
    ASSERT_TRUE(outer);
    EXPECT_EQ(tagged.try_resize(*first, 50).status(), ouro::Status::busy);
    ASSERT_TRUE(tagged.allocate(100));
    const auto inner = tagged.place_mark();
    ASSERT_TRUE(inner);
    ASSERT_TRUE(tagged.allocate(100));
    tagged.free_since(*inner);
    EXPECT_EQ(tagged.try_resize(*first, 50).status(), ouro::Status::busy);
    EXPECT_EQ(tagged.reallocate(*first, 50).status(), ouro::Status::busy);
    EXPECT_EQ(tagged.counts().live_bytes, 200U);
    tagged.free_since(*outer);
    EXPECT_EQ(tagged.counts().live_bytes, 100U);
    first = tagged.try_resize(*first, 50);
    ASSERT_TRUE(first);
    EXPECT_EQ(tagged.counts().live_bytes, 50U);
    tagged.deallocate(*first);
    EXPECT_EQ(tagged.counts().live_bytes, 0U);
    EXPECT_EQ(tagged.counts().live_blocks, 0U);
    EXPECT_EQ(tagged.check(), ouro::Status::ok);
}

TEST(TaggedAllocator, AMarkThatNobodyFreedToEndsWithEverything) {
    auto frame = ouro::FrameAllocator::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(frame);
    ouro::TaggedAllocator tagged(*frame, {.name = "marked"});
    ASSERT_TRUE(tagged.place_mark());
    frame->reset();
    tagged.note_all_freed();
    const auto block = tagged.allocate(100);
    ASSERT_TRUE(block);
    EXPECT_TRUE(tagged.try_resize(*block, 50));
    EXPECT_EQ(tagged.counts().live_bytes, 50U);
}

TEST(TaggedAllocator, AMarkThatFailsLeavesNothingBelow) {
    auto frame = ouro::FrameAllocator::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(frame);
    ouro::TaggedAllocator first(*frame, {.name = "first"});
    ouro::TaggedAllocator second(first, {.name = "second"});
    ouro::TaggedAllocator third(second, {.name = "third"});
    ouro::TaggedAllocator fourth(third, {.name = "fourth"});
    const auto block = third.allocate(100);
    ASSERT_TRUE(block);
    EXPECT_EQ(fourth.place_mark().status(), ouro::Status::capacity_exhausted);
    EXPECT_TRUE(third.try_resize(*block, 50));
}

// What is below is known by its type: nothing but the way there differs.
TEST(TaggedByType, CountsBoundsAndAnnouncesTheSame) {
    auto heap = ouro::SmallObjectAllocator::create({.name = "below", .max_bytes = std::size_t{16} << 20});
    const auto tag = ouro::register_tag("tagged by type");
    ASSERT_TRUE(heap && tag);
    ouro::BasicTaggedAllocator tagged(*heap, {.tag = *tag, .budget_bytes = 100});
    static_assert(std::is_same_v<decltype(tagged), ouro::BasicTaggedAllocator<ouro::SmallObjectAllocator>>);
    EXPECT_EQ(&tagged.upstream(), &*heap);
    Journal journal;
    ASSERT_TRUE(ouro::add_observer(journal));
    const auto block = tagged.allocate(40, 32);
    ASSERT_TRUE(block);
    EXPECT_EQ(block->size, 40U);
    EXPECT_EQ(journal.last.resource, &tagged);
    EXPECT_EQ(journal.last.alignment, 32U);
    EXPECT_EQ(tagged.allocate(61).status(), Status::budget_exceeded);
    const auto changed = tagged.reallocate(*block, 80, 32);
    ASSERT_TRUE(changed);
    EXPECT_EQ(heap->stats().live_blocks, 1U);
    tagged.deallocate(*changed, 32);
    tagged.deallocate({});
    ASSERT_TRUE(ouro::remove_observer(journal));
    EXPECT_EQ(journal.text,
              "allocate 40 0 ok\n"
              "failure 61 0 budget_exceeded\n"
              "reallocate 80 40 ok\n"
              "deallocate 80 0 ok\n");
    EXPECT_EQ(tagged.counts().live_bytes, 0U);
    EXPECT_EQ(tagged.counts().peak_bytes, 80U);
    EXPECT_EQ(tagged.counts().deallocations, 1U);
    EXPECT_EQ(heap->stats().live_blocks, 0U);
    EXPECT_EQ(tagged.check(), Status::ok);
}

// As a resource it is like any other.
TEST(TaggedByType, WorksThroughTheContract) {
    auto pool = ouro::LocalPoolAllocator::create({.block_bytes = 64, .max_blocks = 2});
    ASSERT_TRUE(pool);
    ouro::BasicTaggedAllocator tagged(*pool, {.name = "pooled"});
    ouro::MemoryResource& resource = tagged;
    const auto one = resource.allocate(64, 16);
    const auto two = resource.allocate(10, 8);
    ASSERT_TRUE(one && two);
    EXPECT_EQ(resource.allocate(10, 8).status(), Status::capacity_exhausted);
    EXPECT_EQ(tagged.failures(Status::capacity_exhausted), 1U);
    EXPECT_EQ(tagged.counts().live_bytes, 74U);
    resource.deallocate(*one, 16);
    resource.deallocate(*two, 8);
    EXPECT_EQ(pool->live_blocks(), 0U);
    EXPECT_EQ(tagged.counts().live_bytes, 0U);
}

}  // namespace
