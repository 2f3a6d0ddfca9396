// What the contract promises, asked of every strategy through the base type.
#include "resource_model.hpp"

#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace {

using ouro::FrameAllocator;
using ouro::MemoryBlock;
using ouro::MemoryResource;
using ouro::StackAllocator;
using ouro::Status;
using ouro::testing_support::ResourceModel;

constexpr std::size_t kBytes = std::size_t{4} << 20;

// Builds one resource, or one on another, and keeps what it stands on alive.
class Built {
public:
    explicit Built(int which) {
        switch (which) {
            case 0:
                frame_.emplace(*FrameAllocator::create({.max_bytes = kBytes}));
                break;
            case 1:
                stack_.emplace(*StackAllocator::create({.max_bytes = kBytes}));
                break;
            case 2:
                stack_.emplace(*StackAllocator::create({.max_bytes = 2 * kBytes}));
                frame_.emplace(*FrameAllocator::create_on(*stack_, kBytes));
                break;
            default:
                frame_.emplace(*FrameAllocator::create({.max_bytes = 2 * kBytes}));
                stack_.emplace(*StackAllocator::create_on(*frame_, kBytes));
                on_top_is_stack_ = true;
                return;
        }
        on_top_is_stack_ = which == 1;
    }

    ~Built() {
        // The one on top goes first.
        if (on_top_is_stack_) {
            stack_.reset();
        } else {
            frame_.reset();
        }
    }
    Built(const Built&) = delete;
    Built& operator=(const Built&) = delete;

    [[nodiscard]] MemoryResource& resource() {
        if (on_top_is_stack_) return *stack_;
        return *frame_;
    }
    [[nodiscard]] bool newest_only() const { return on_top_is_stack_; }

private:
    std::optional<FrameAllocator> frame_;
    std::optional<StackAllocator> stack_;
    bool on_top_is_stack_ = false;
};

class Contract : public testing::TestWithParam<int> {};

TEST_P(Contract, SenselessRequestsHaveTheirStatus) {
    Built built(GetParam());
    MemoryResource& resource = built.resource();
    EXPECT_EQ(resource.allocate(0, 16).status(), Status::zero_size);
    EXPECT_EQ(resource.allocate(16, 0).status(), Status::bad_alignment);
    EXPECT_EQ(resource.allocate(16, 24).status(), Status::bad_alignment);
    const Status huge = resource.allocate(SIZE_MAX, 16).status();
    EXPECT_TRUE(huge == Status::size_overflow || huge == Status::capacity_exhausted);
    EXPECT_EQ(resource.allocate(2 * kBytes, 16).status(), Status::capacity_exhausted);
    EXPECT_NE(resource.allocate(16, SIZE_MAX / 2 + 1).status(), Status::ok);
    EXPECT_EQ(resource.stats().live_bytes, 0U);
    EXPECT_EQ(resource.check(), Status::ok);
    EXPECT_TRUE(resource.allocate(16, 16));
}

TEST_P(Contract, NullIsFreedAndReallocatedLikeNothing) {
    Built built(GetParam());
    MemoryResource& resource = built.resource();
    resource.deallocate({}, 16);
    const auto block = resource.reallocate({}, 100, 64);
    ASSERT_TRUE(block);
    EXPECT_GE(block->size, 100U);
    EXPECT_EQ(resource.reallocate(*block, 0, 64).status(), Status::zero_size);
    EXPECT_EQ(resource.reallocate(*block, 2 * kBytes, 64).status(), Status::capacity_exhausted);
    resource.deallocate(*block, 64);
    EXPECT_EQ(resource.check(), Status::ok);
}

TEST_P(Contract, ExhaustionIsAStatusAndPasses) {
    Built built(GetParam());
    MemoryResource& resource = built.resource();
    MemoryBlock newest;
    std::size_t count = 0;
    for (;; ++count) {
        const auto block = resource.allocate(65536, 16);
        if (!block) {
            EXPECT_EQ(block.status(), Status::capacity_exhausted);
            break;
        }
        newest = *block;
    }
    EXPECT_GE(count, 60U);
    EXPECT_GE(resource.stats().failures, 1U);
    resource.deallocate(newest, 16);
    EXPECT_TRUE(resource.allocate(60000, 16));
}

TEST_P(Contract, EachIsEqualToItselfOnly) {
    Built one(GetParam());
    Built other(GetParam());
    EXPECT_TRUE(one.resource().is_equal(one.resource()));
    EXPECT_FALSE(one.resource().is_equal(other.resource()));
    EXPECT_FALSE(one.resource().info().name.empty());
}

TEST_P(Contract, RandomCallsKeepEveryByte) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Built built(GetParam());
        ResourceModel model(built.resource(), {.newest_only = built.newest_only()}, seed);
        for (int step = 0; step < 5000; ++step) {
            model.step();
            if (testing::Test::HasFatalFailure()) return;
            ASSERT_TRUE(step % 500 != 0 || built.resource().check() == Status::ok);
        }
        model.free_all();
        ASSERT_EQ(built.resource().check(), Status::ok);
    }
}

INSTANTIATE_TEST_SUITE_P(Strategies, Contract, testing::Values(0, 1, 2, 3));

}  // namespace
