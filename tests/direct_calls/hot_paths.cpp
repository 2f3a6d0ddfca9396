// What a program writes that knows its strategy by type: direct_calls_test.py reads the machine code of
// these.
#include <ouro/memory/fallback_chain.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/huge_page_arena.hpp>
#include <ouro/memory/partition.hpp>
#include <ouro/memory/pool.hpp>
#include <ouro/memory/pool_allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/memory/tagged_allocator.hpp>
#include <ouro/memory/tlsf_allocator.hpp>
#include <ouro/memory/two_ended_stack.hpp>
#include <ouro/observe/charged_allocator.hpp>

// The size is the caller's, the alignment the default: as most calls are.
#define OURO_HOT_PATHS(strategy, Type)                                             \
    std::byte* strategy##_allocate(Type& resource, std::size_t size) noexcept {    \
        const auto block = resource.allocate(size);                                \
        return block ? block->data : nullptr;                                      \
    }                                                                              \
    void strategy##_deallocate(Type& resource, ouro::MemoryBlock block) noexcept { \
        resource.deallocate(block);                                                \
    }

extern "C" {
OURO_HOT_PATHS(frame, ouro::FrameAllocator)
OURO_HOT_PATHS(stack, ouro::StackAllocator)
OURO_HOT_PATHS(end, ouro::TwoEndedStack::End)
OURO_HOT_PATHS(pool, ouro::PoolAllocator)
OURO_HOT_PATHS(local_pool, ouro::LocalPoolAllocator)
OURO_HOT_PATHS(small, ouro::SmallObjectAllocator)
OURO_HOT_PATHS(tlsf, ouro::TlsfAllocator)
OURO_HOT_PATHS(partition, ouro::Partition)
OURO_HOT_PATHS(arena, ouro::HugePageArena)
OURO_HOT_PATHS(tagged_small, ouro::BasicTaggedAllocator<ouro::SmallObjectAllocator>)
OURO_HOT_PATHS(tagged_pool, ouro::BasicTaggedAllocator<ouro::LocalPoolAllocator>)
OURO_HOT_PATHS(charged_small, ouro::ChargedAllocator<ouro::SmallObjectAllocator>)
OURO_HOT_PATHS(charged_pool, ouro::ChargedAllocator<ouro::LocalPoolAllocator>)
// One direct call away.
OURO_HOT_PATHS(tagged, ouro::TaggedAllocator)
OURO_HOT_PATHS(chain, ouro::FallbackChain)
OURO_HOT_PATHS(system, ouro::SystemAllocator)
}
