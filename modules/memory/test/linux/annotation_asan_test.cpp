// AddressSanitizer knows what each strategy hands out. Built with it only.
#include <ouro/memory/annotations.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/huge_page_arena.hpp>
#include <ouro/memory/partition_allocator.hpp>
#include <ouro/memory/pool.hpp>
#include <ouro/memory/pool_allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/memory/tlsf_allocator.hpp>
#include <ouro/memory/two_ended_stack.hpp>

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::FrameAllocator;
using ouro::StackAllocator;

constexpr const char* kReport = "AddressSanitizer: use-after-poison";
static_assert(ouro::annotate::kAddressSanitizer);

void touch(std::byte* address) {
    *reinterpret_cast<volatile unsigned char*>(address) = 1;
}

TEST(AnnotationAsan, AFrameIsForbiddenAfterItsReset) {
    auto frame = FrameAllocator::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(frame);
    const auto block = frame->allocate(64);
    ASSERT_TRUE(block);
    touch(block->data);
    EXPECT_DEATH(touch(block->end()), kReport);
    frame->reset();
    EXPECT_DEATH(touch(block->data), kReport);
    const auto again = frame->allocate(32);
    ASSERT_TRUE(again);
    touch(again->data);
    EXPECT_DEATH(touch(block->data + 32), kReport);
    const auto grown = frame->reallocate(*again, 48);
    ASSERT_TRUE(grown);
    touch(grown->data + 47);
    const auto shrunk = frame->reallocate(*grown, 8);
    ASSERT_TRUE(shrunk);
    EXPECT_DEATH(touch(grown->data + 40), kReport);
}

TEST(AnnotationAsan, WhatAMarkerFreedIsForbidden) {
    auto frame = FrameAllocator::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(frame);
    const auto kept = frame->allocate(64);
    const auto marker = frame->mark();
    const auto freed = frame->allocate(64);
    ASSERT_TRUE(kept && freed);
    frame->rewind(marker);
    touch(kept->data + 63);
    EXPECT_DEATH(touch(freed->data), kReport);
}

TEST(AnnotationAsan, AStackIsForbiddenAboveItsTop) {
    auto stack = StackAllocator::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(stack);
    const auto low = stack->allocate(64, 128);
    const auto high = stack->allocate(64);
    ASSERT_TRUE(low && high);
    stack->deallocate(*high);
    EXPECT_DEATH(touch(high->data), kReport);
    touch(low->data);
    stack->deallocate(*low, 128);
    EXPECT_DEATH(touch(low->data), kReport);
}

TEST(AnnotationAsan, AFreeBlockOfAPoolIsForbidden) {
    auto pool = ouro::PoolAllocator::create({.block_bytes = 64, .max_blocks = 10'000});
    ASSERT_TRUE(pool);
    // More than the pool keeps at hand, so that some lie on its list.
    std::vector<ouro::MemoryBlock> blocks;
    for (int i = 0; i < 1000; ++i) {
        const auto block = pool->allocate(64);
        ASSERT_TRUE(block);
        touch(block->data + 63);
        blocks.push_back(*block);
    }
    EXPECT_DEATH(touch(blocks.back().end()), kReport);
    for (const auto& block : blocks)
        pool->deallocate(block);
    // In the magazine every byte is forbidden, on the list all but the link.
    EXPECT_DEATH(touch(blocks.back().data), kReport);
    EXPECT_DEATH(touch(blocks.front().data + 16), kReport);
    EXPECT_EQ(pool->check(), ouro::Status::ok);
    pool->trim();
    for (int i = 0; i < 1000; ++i) {
        const auto block = pool->allocate(64);
        ASSERT_TRUE(block);
        std::memset(block->data, 1, block->size);
    }
    pool->reset();
    EXPECT_DEATH(touch(blocks.front().data), kReport);
}

TEST(AnnotationAsan, AFreeBlockOfAHeapIsForbidden) {
    auto heap = ouro::TlsfAllocator::create({.max_bytes = std::size_t{1} << 24});
    ASSERT_TRUE(heap);
    const auto small = heap->allocate(64);
    const auto large = heap->allocate(10'000);
    const auto last = heap->allocate(64);
    ASSERT_TRUE(small && large && last);
    touch(large->data);
    touch(large->end() - 1);
    EXPECT_DEATH(touch(last->end()), kReport);
    heap->deallocate(*small);
    EXPECT_DEATH(touch(small->data), kReport);
    const auto shrunk = heap->reallocate(*large, 5000);
    ASSERT_TRUE(shrunk);
    EXPECT_DEATH(touch(large->end() - 1), kReport);
    heap->deallocate(*shrunk);
    EXPECT_DEATH(touch(large->data + 100), kReport);
    EXPECT_EQ(heap->check(), ouro::Status::ok);
}

TEST(AnnotationAsan, MemoryThatAHeapGrewByIsForbidden) {
    auto heap = ouro::TlsfAllocator::create(
        {.max_bytes = std::size_t{1} << 24, .commit_step_bytes = std::size_t{64} << 10});
    ASSERT_TRUE(heap);
    const auto block = heap->allocate(std::size_t{1} << 20);
    ASSERT_TRUE(block);
    std::memset(block->data, 1, block->size);
    EXPECT_DEATH(touch(block->end()), kReport);
}

TEST(AnnotationAsan, EachEndOfATwoEndedStackIsForbiddenAboveItsTop) {
    auto stack = ouro::TwoEndedStack::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(stack);
    for (auto* end : {&stack->front(), &stack->back()}) {
        const auto low = end->allocate(64, 128);
        const auto mark = end->mark();
        const auto high = end->allocate(64);
        ASSERT_TRUE(low && high);
        touch(high->data);
        end->deallocate(*high);
        EXPECT_DEATH(touch(high->data), kReport);
        const auto grown = end->allocate(4096);
        ASSERT_TRUE(grown);
        const auto shrunk = end->reallocate(*grown, 16);
        ASSERT_TRUE(shrunk);
        touch(shrunk->data);
        EXPECT_DEATH(touch(grown->data + 2048), kReport);
        end->pop_to(mark);
        EXPECT_DEATH(touch(shrunk->data), kReport);
        std::memset(low->data, 1, low->size);
        end->deallocate(*low, 128);
        EXPECT_DEATH(touch(low->data), kReport);
    }
    EXPECT_EQ(stack->check(), ouro::Status::ok);
}

TEST(AnnotationAsan, WhatAnArenaFreedIsForbidden) {
    auto arena = ouro::HugePageArena::create({.max_bytes = std::size_t{8} << 20,
                                              .chunk_bytes = std::size_t{2} << 20,
                                              .pages = ouro::os::PageKind::normal});
    ASSERT_TRUE(arena);
    const auto kept = arena->allocate(64);
    const auto marker = arena->mark();
    const auto freed = arena->allocate(64);
    // In another chunk.
    const auto far = arena->allocate(std::size_t{2} << 20);
    ASSERT_TRUE(kept && freed && far);
    touch(far->end() - 1);
    arena->rewind(marker);
    touch(kept->data);
    EXPECT_DEATH(touch(freed->data), kReport);
    EXPECT_DEATH(touch(far->data + 100), kReport);
    arena->reset();
    EXPECT_DEATH(touch(kept->data), kReport);
    const auto block = arena->allocate(64);
    ASSERT_TRUE(block);
    EXPECT_DEATH(touch(block->end()), kReport);
    const auto grown = arena->try_resize(*block, 128);
    ASSERT_TRUE(grown);
    touch(grown->end() - 1);
    ASSERT_TRUE(arena->try_resize(*grown, 32));
    EXPECT_DEATH(touch(grown->end() - 1), kReport);
}

TEST(AnnotationAsan, AFreeBlockOfAPartitionIsForbidden) {
    for (const auto safety : {ouro::ThreadSafety::single_thread, ouro::ThreadSafety::any_thread}) {
        const ouro::PartitionOptions options[] = {{.thread_safety = safety}};
        auto set = ouro::PartitionAllocator::create({.partitions = options});
        ASSERT_TRUE(set);
        ouro::Partition& part = (*set)[0];
        const auto block = part.allocate(64);
        ASSERT_TRUE(block);
        touch(block->end() - 1);
        EXPECT_DEATH(touch(block->end()), kReport);
        part.deallocate(*block);
        EXPECT_DEATH(touch(block->data), kReport);
        const auto again = part.allocate(64);
        ASSERT_TRUE(again);
        EXPECT_EQ(again->data, block->data);
        touch(again->data);
        const auto large = part.allocate(std::size_t{200} << 10);
        ASSERT_TRUE(large);
        touch(large->end() - 1);
        const auto shrunk = part.try_resize(*large, std::size_t{100} << 10);
        ASSERT_TRUE(shrunk);
        // The rest is forbidden, or gone.
        EXPECT_DEATH(touch(large->end() - 1), "AddressSanitizer: ");
        const auto regrown = part.try_resize(*shrunk, std::size_t{200} << 10);
        ASSERT_TRUE(regrown);
        std::memset(regrown->data, 1, regrown->size);
        EXPECT_EQ(part.check(), ouro::Status::ok);
    }
}

TEST(AnnotationAsan, AnObjectThatWasDestroyedIsForbidden) {
    struct Object {
        std::byte bytes[64];
    };
    auto pool = ouro::Pool<Object>::create({.max_objects = 100});
    ASSERT_TRUE(pool);
    Object* const object = *pool->make();
    touch(object->bytes);
    pool->destroy(object);
    EXPECT_DEATH(touch(object->bytes), kReport);
}

TEST(AnnotationAsan, WhatAResetFreedOfAHeapIsForbidden) {
    auto heap = ouro::SmallObjectAllocator::create({.max_bytes = std::size_t{64} << 20});
    ASSERT_TRUE(heap);
    const auto small = heap->allocate(64);
    const auto large = heap->allocate(std::size_t{200} << 10);
    ASSERT_TRUE(small && large);
    heap->reset();
    EXPECT_DEATH(touch(small->data), kReport);
    EXPECT_DEATH(touch(large->data), kReport);
}

TEST(AnnotationAsan, PagesThatAreKeptForTheNextAreForbidden) {
    auto system = ouro::SystemAllocator::create({});
    ASSERT_TRUE(system);
    const auto block = system->allocate(100'000);
    ASSERT_TRUE(block);
    touch(block->data);
    system->deallocate(*block);
    EXPECT_DEATH(touch(block->data), kReport);
    const auto again = system->allocate(100'000);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->data, block->data);
    std::memset(again->data, 1, again->size);
    system->deallocate(*again);
}

TEST(AnnotationAsan, TheEndOfAnAllocatorForbidsNothingToTheNext) {
    std::byte* place = nullptr;
    {
        auto outer = StackAllocator::create({.max_bytes = std::size_t{1} << 20});
        ASSERT_TRUE(outer);
        {
            auto inner = FrameAllocator::create_on(*outer, 4096);
            ASSERT_TRUE(inner);
            const auto block = inner->allocate(64);
            ASSERT_TRUE(block);
            place = block->data;
            EXPECT_DEATH(touch(block->end()), kReport);
        }
        const auto whole = outer->allocate(4096);
        ASSERT_TRUE(whole);
        ASSERT_TRUE(whole->contains(place));
        std::memset(whole->data, 1, whole->size);
    }
    const auto mapped = ouro::os::reserve({.bytes = std::size_t{1} << 20});
    ASSERT_TRUE(mapped && ouro::os::commit(*mapped));
    std::memset(mapped->data, 1, mapped->size);
    EXPECT_TRUE(ouro::os::release(*mapped));
}

}  // namespace
