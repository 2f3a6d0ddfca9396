// A call without an alignment is the same by the contract's type as by a strategy's own.
#include <ouro/memory/collections/capacity_pool.hpp>
#include <ouro/memory/fallback_chain.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/guarded_allocator.hpp>
#include <ouro/memory/huge_page_arena.hpp>
#include <ouro/memory/partition.hpp>
#include <ouro/memory/pool_allocator.hpp>
#include <ouro/memory/shared_region.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/memory/tagged_allocator.hpp>
#include <ouro/memory/tlsf_allocator.hpp>
#include <ouro/memory/two_ended_stack.hpp>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::MemoryResource;

template <class Resource>
concept NeedsNoAlignment = requires(Resource& resource, MemoryBlock block) {
    resource.allocate(1);
    resource.deallocate(block);
    resource.reallocate(block, 1);
    resource.try_resize(block, 1);
};

template <class... Resources>
constexpr bool kAllNeedNone = (NeedsNoAlignment<Resources> && ...);

static_assert(NeedsNoAlignment<MemoryResource>);
static_assert(
    kAllNeedNone<ouro::FrameAllocator, ouro::StackAllocator, ouro::TwoEndedStack::End, ouro::PoolAllocator,
                 ouro::LocalPoolAllocator, ouro::SmallObjectAllocator, ouro::TlsfAllocator, ouro::Partition,
                 ouro::HugePageArena, ouro::SystemAllocator, ouro::FallbackChain, ouro::TaggedAllocator,
                 ouro::GuardedAllocator<ouro::HardeningTier::off>,
                 ouro::GuardedAllocator<ouro::HardeningTier::checked>, ouro::SharedCache>);
static_assert(NeedsNoAlignment<ouro::CapacityPool>);

// Tells which alignment it was asked for.
class Witness final : public MemoryResource {
public:
    ouro::Expected<MemoryBlock> allocate(std::size_t, std::size_t alignment) noexcept override {
        return note(alignment);
    }
    void deallocate(MemoryBlock, std::size_t alignment) noexcept override { (void)note(alignment); }
    ouro::Expected<MemoryBlock> reallocate(MemoryBlock, std::size_t,
                                           std::size_t alignment) noexcept override {
        return note(alignment);
    }
    ouro::Expected<MemoryBlock> try_resize(MemoryBlock, std::size_t,
                                           std::size_t alignment) noexcept override {
        return note(alignment);
    }
    bool owns(const void*) const noexcept override { return false; }
    ouro::ResourceInfo info() const noexcept override { return {}; }
    ouro::ResourceStats stats() const noexcept override { return {}; }
    ouro::Status check() const noexcept override { return ouro::Status::ok; }

    int defaults = 0;

private:
    ouro::Expected<MemoryBlock> note(std::size_t alignment) noexcept {
        defaults += alignment == ouro::kDefaultAlignment ? 1 : 0;
        return ouro::Status::capacity_exhausted;
    }
};

TEST(DefaultAlignment, IsThatOfTheContract) {
    Witness witness;
    MemoryResource& resource = witness;
    EXPECT_FALSE(resource.allocate(1));
    resource.deallocate({});
    EXPECT_FALSE(resource.reallocate({}, 1));
    EXPECT_FALSE(resource.try_resize({}, 1));
    EXPECT_EQ(witness.defaults, 4);
}

}  // namespace
