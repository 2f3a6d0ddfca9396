#include "without_exceptions.hpp"

#include <ouro/memory/allocator.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/no_allocation_scope.hpp>
#include <ouro/memory/owned_memory_block.hpp>
#include <ouro/memory/partition_allocator.hpp>
#include <ouro/memory/pmr.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>
#include <ouro/memory/stl_allocator.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/memory/tlsf_allocator.hpp>

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::Allocator;
using ouro::FrameAllocator;
using ouro::NoAllocationScope;
namespace support = ouro::testing_support;

class UseDeath : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(frame_); }

    ouro::Expected<FrameAllocator> frame_ = FrameAllocator::create({.max_bytes = 65536});
};

TEST_F(UseDeath, AnAllocationWhereNoneIsAllowedNamesTheScope) {
    const Allocator memory = *frame_;
    const auto block = memory.allocate(100);
    ASSERT_TRUE(block);
    const NoAllocationScope outer("frame loop");
    const std::string message = "an allocation in the scope 'simulation tick', which allows none";
    const NoAllocationScope quiet("simulation tick");
    EXPECT_DEATH((void)memory.allocate(100), message);
    EXPECT_DEATH((void)memory.allocate(100), "use_death_test.cpp");
    EXPECT_DEATH((void)memory.reallocate(*block, 200), message);
    EXPECT_DEATH((void)memory.try_reallocate(*block, 200), message);
    EXPECT_DEATH((void)memory.make<int>(1), message);
    EXPECT_DEATH((void)memory.make_array<int>(3), message);
    EXPECT_DEATH((void)ouro::OwnedMemoryBlock::allocate(memory, 100), message);
}

TEST_F(UseDeath, AdaptersAskToo) {
    ouro::PmrResource resource{Allocator(*frame_)};
    std::vector<int, ouro::StlAllocator<int>> numbers(*frame_);
    const NoAllocationScope quiet("tick");
    EXPECT_DEATH((void)resource.allocate(100), "the scope 'tick'");
    EXPECT_DEATH(numbers.push_back(1), "the scope 'tick'");
}

TEST_F(UseDeath, StrategiesAskWhereDebugAssertsAreOn) {
    auto stack = ouro::StackAllocator::create({.max_bytes = 65536});
    ASSERT_TRUE(stack);
    const auto block = stack->allocate(100);
    ASSERT_TRUE(block);
    const NoAllocationScope quiet("tick");
    if constexpr (OURO_ASSERT_LEVEL >= 1) {
        EXPECT_DEATH((void)frame_->allocate(100), "the scope 'tick'");
        EXPECT_DEATH((void)stack->allocate(100), "the scope 'tick'");
        EXPECT_DEATH((void)stack->reallocate(*block, 1000), "the scope 'tick'");
        EXPECT_DEATH((void)stack->try_resize(*block, 1000), "the scope 'tick'");
    } else {
        EXPECT_TRUE(frame_->allocate(100));
        EXPECT_TRUE(stack->allocate(100));
    }
}

// A block that becomes larger where it lies takes memory as well.
void expect_growth_is_refused(ouro::MemoryResource& resource, std::size_t size) {
    const auto block = resource.allocate(size, 16);
    ASSERT_TRUE(block);
    const std::size_t more = block->size + 1;
    const NoAllocationScope quiet("tick");
    if constexpr (OURO_ASSERT_LEVEL >= 1) {
        EXPECT_DEATH((void)resource.reallocate(*block, more, 16), "the scope 'tick'") << size;
        EXPECT_DEATH((void)resource.try_resize(*block, more, 16), "the scope 'tick'") << size;
    } else {
        EXPECT_TRUE(resource.reallocate(*block, more, 16)) << size;
    }
}

TEST_F(UseDeath, GrowthInPlaceIsAnAllocation) {
    constexpr std::size_t kBytes = std::size_t{4} << 20;
    auto heap = ouro::SmallObjectAllocator::create({.max_bytes = kBytes});
    auto tlsf = ouro::TlsfAllocator::create({.max_bytes = kBytes});
    auto system = ouro::SystemAllocator::create({.max_bytes = kBytes});
    const ouro::PartitionOptions part{.max_bytes = kBytes};
    auto parts = ouro::PartitionAllocator::create({.partitions = {&part, 1}});
    ASSERT_TRUE(heap && tlsf && system && parts);
    for (const std::size_t size : {std::size_t{1000}, std::size_t{200'000}}) {
        expect_growth_is_refused(*heap, size);
        expect_growth_is_refused(*tlsf, size);
        expect_growth_is_refused(*system, size);
        expect_growth_is_refused((*parts)[0], size);
    }
}

TEST_F(UseDeath, ALongNameIsCutOff) {
    const std::string name(1000, 'n');
    const NoAllocationScope quiet(name.c_str());
    EXPECT_DEATH((void)Allocator(*frame_).allocate(1), "an allocation in the scope 'nnn");
}

TEST_F(UseDeath, TheHandlerMayAllocate) {
    static FrameAllocator* memory_of_handler = nullptr;
    memory_of_handler = &*frame_;
    const NoAllocationScope quiet("tick");
    const auto allocate_and_tell = [](const ouro::AssertFailure& failure) {
        const auto text = Allocator(*memory_of_handler).allocate(100);
        std::fprintf(stderr, "%s: %s\n", text ? "told" : "silent", failure.message);
    };
    EXPECT_DEATH(
        {
            ouro::set_assert_handler(allocate_and_tell);
            (void)Allocator(*frame_).allocate(100);
        },
        "told: an allocation in the scope 'tick'");
}

TEST_F(UseDeath, ScopesMustNest) {
    const auto cross = [] {
        std::optional<NoAllocationScope> first;
        std::optional<NoAllocationScope> second;
        first.emplace("first");
        second.emplace("second");
        first.reset();
    };
    EXPECT_DEATH(cross(), "end in opposite order");
    const auto cross_a_hole = [] {
        std::optional<ouro::AllowAllocationScope> hole;
        std::optional<NoAllocationScope> inner;
        hole.emplace();
        inner.emplace("inner");
        hole.reset();
    };
    EXPECT_DEATH(cross_a_hole(), "end in opposite order");
}

TEST_F(UseDeath, AMarkOfAnotherResourceIsCaught) {
    auto stack = ouro::StackAllocator::create({.max_bytes = 65536});
    ASSERT_TRUE(stack);
    ASSERT_TRUE(stack->allocate(1000));
    const auto mark = stack->place_mark();
    ASSERT_TRUE(mark);
    EXPECT_DEATH(Allocator(*frame_).free_since(*mark), "freed already");
    ouro::FromPmr plain(*std::pmr::new_delete_resource());
    EXPECT_DEATH(Allocator(plain).free_since(*mark), "has no marks");
}

TEST_F(UseDeath, WithoutExceptionsAFailedContainerAsserts) {
    EXPECT_EQ(support::sum_of_ones_by_stl(*frame_, 100), 100U);
    EXPECT_EQ(support::sum_of_ones_by_pmr(*frame_, 100), 100U);
    EXPECT_EQ(support::sum_of_ones_there_and_back(*frame_, 100), 100U);
    EXPECT_DEATH((void)support::sum_of_ones_by_stl(*frame_, 100'000), "no exceptions to say so");
    EXPECT_DEATH((void)support::sum_of_ones_by_pmr(*frame_, 100'000), "no exceptions to say so");
    // Here, in the same program, there are some.
    EXPECT_THROW((void)ouro::StlAllocator<int>(*frame_).allocate(100'000), std::bad_alloc);
}

}  // namespace
