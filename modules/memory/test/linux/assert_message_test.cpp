// A failed assert about a block says which block it is, and of whom.
#include <ouro/memory/fallback_chain.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/partition_allocator.hpp>
#include <ouro/memory/pool.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/memory/tagged_allocator.hpp>
#include <ouro/memory/tlsf_allocator.hpp>

#include <cstdint>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::string about(const std::string& message, const void* address, const std::string& name) {
    char text[32];
    std::snprintf(text, sizeof(text), "0x%zx", reinterpret_cast<std::size_t>(address));
    return message + ": " + text + (name.empty() ? "" : " in '" + name + "'") + "\n";
}

TEST(AssertMessageDeath, OfStrategiesNamesThemAndTheBlock) {
    auto stack = *ouro::StackAllocator::create({.name = "loading", .max_bytes = kMiB});
    const MemoryBlock older = *stack.allocate(64);
    const MemoryBlock newer = *stack.allocate(64);
    EXPECT_DEATH(stack.deallocate(older), about("newest block only", older.data, "loading"));

    auto system = *ouro::SystemAllocator::create({.name = "buffers"});
    EXPECT_DEATH(system.deallocate(newer), about("freed already", newer.data, "buffers"));

    constexpr ouro::PartitionOptions kParts[] = {{.name = "scripts"}};
    auto parts = *ouro::PartitionAllocator::create({.partitions = kParts});
    const MemoryBlock slot = *parts[0].allocate(100);
    parts[0].deallocate(slot);
    EXPECT_DEATH(parts[0].deallocate(slot), about("free already", slot.data, "scripts"));

    auto tlsf = *ouro::TlsfAllocator::create({.name = "assets", .max_bytes = kMiB});
    EXPECT_DEATH((void)tlsf.try_resize(newer, 10, 16), about("not of this allocator", newer.data, "assets"));
    const MemoryBlock mesh = *tlsf.allocate(100);
    tlsf.deallocate(mesh);
    EXPECT_DEATH(tlsf.deallocate(mesh), about("free already", mesh.data, ""));

    auto pool = *ouro::Pool<int>::create({.name = "creatures", .max_objects = 100});
    int stranger = 0;
    EXPECT_DEATH(pool.destroy(&stranger), about("no such object", &stranger, "creatures"));
}

TEST(AssertMessageDeath, OfTheSmallObjectHeapNamesItAndTheBlockThatComesHomeTwice) {
    auto heap = *ouro::SmallObjectAllocator::create({.name = "game", .max_bytes = 64 * kMiB});
    const MemoryBlock block = *heap.allocate(64);
    const MemoryBlock other = *heap.allocate(64);
    const auto free_twice = [&] {
        heap.deallocate(block);
        heap.deallocate(other);
        heap.deallocate(block);
        heap.purge();
    };
    // Expensive asserts notice at the free, without looking for the name.
    EXPECT_DEATH(free_twice(), OURO_ASSERT_LEVEL < 2 ? about("freed twice", block.data, "game")
                                                     : std::string("freed twice"));
    const MemoryBlock large = *heap.allocate(100'000);
    EXPECT_DEATH(heap.deallocate({large.data + 16, large.size}),
                 about("not a block of this heap, or freed twice", large.data + 16, "game"));
}

TEST(AssertMessageDeath, OfDecoratorsNamesThemAndTheBlock) {
    auto system = *ouro::SystemAllocator::create({.name = "below"});
    ouro::TaggedAllocator tagged(system, {.name = "sounds"});
    const MemoryBlock block = *tagged.allocate(100);
    EXPECT_DEATH(tagged.deallocate({block.data, 200}),
                 about("more bytes were returned than were given", block.data, "sounds"));
    tagged.deallocate(block);
    auto chain = *ouro::FallbackChain::create({&system});
    std::byte local[16];
    EXPECT_DEATH(chain.deallocate({local, 16}),
                 about("no link of the chain owns this block", local, std::string(chain.info().name)));
}

TEST(AssertMessageDeath, OfAMarkNamesTheAllocator) {
    auto frame = *ouro::FrameAllocator::create({.name = "frame 1", .max_bytes = kMiB});
    ASSERT_TRUE(frame.allocate(64));
    const auto marker = frame.mark();
    frame.reset();
    EXPECT_DEATH(frame.rewind(marker), "freed already: in 'frame 1'\n");
}

}  // namespace
