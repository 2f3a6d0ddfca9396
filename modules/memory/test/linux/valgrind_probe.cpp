// Uses the strategy that its first argument names rightly, or makes the mistake that its second names; run
// under Valgrind by valgrind_test.py. Without arguments it lists the strategies.
#include "right_use.hpp"

#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/guarded_allocator.hpp>
#include <ouro/memory/huge_page_arena.hpp>
#include <ouro/memory/partition_allocator.hpp>
#include <ouro/memory/pool.hpp>
#include <ouro/memory/pool_allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/memory/tlsf_allocator.hpp>
#include <ouro/memory/two_ended_stack.hpp>
#include <ouro/os/thread.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace {

using ouro::MemoryBlock;
using ouro::MemoryResource;
using ouro::Status;
using ouro::testing_support::Exercise;
using ouro::testing_support::Habits;
using ouro::testing_support::require;
using ouro::testing_support::require_filled;

constexpr std::size_t kMegabyte = std::size_t{1} << 20;
constexpr std::size_t kBytes = 64;

[[gnu::noinline]] void touch(std::byte* address) {
    *reinterpret_cast<volatile unsigned char*>(address) = 1;
}

void use_rightly(MemoryResource& resource, const Habits& habits) {
    Exercise(resource, habits).run(700);
}

// The mistakes that can be made with every resource, which then have no more to say; false when it is none of
// them.
template <class Free>
bool make_mistake(std::string_view mistake, MemoryBlock block, std::byte* outside, Free free) {
    if (mistake == "use after free") {
        free();
        touch(block.data + 8);
    } else if (mistake == "overflow") {
        touch(outside);
    } else if (mistake == "read before write") {
        std::_Exit(block.data[3] == std::byte{1} ? 1 : 0);
    } else {
        return mistake == "none";
    }
    std::_Exit(0);
}

// A block of a resource of any kind, freed by its own deallocate.
void probe_block(std::string_view mistake, MemoryResource& resource) {
    const auto block = resource.allocate(kBytes, ouro::kDefaultAlignment);
    require(block.has_value(), "no block");
    require(make_mistake(mistake, *block, block->end(),
                         [&] { resource.deallocate(*block, ouro::kDefaultAlignment); }),
            "no such mistake");
    if (mistake == "none") resource.deallocate(*block, ouro::kDefaultAlignment);
}

void probe_frame(std::string_view mistake) {
    auto frame = ouro::FrameAllocator::create({.max_bytes = 8 * kMegabyte});
    require(frame.has_value(), "no frame");
    const auto block = frame->allocate(kBytes);
    require(make_mistake(mistake, *block, block->end(), [&] { frame->reset(); }), "no such mistake");
    for (int round = 0; mistake == "none" && round < 3; ++round) {
        use_rightly(*frame, {});
        const auto mark = frame->mark();
        // The first block of one pool is another.
        auto inner = ouro::FrameAllocator::create_on(*frame, kMegabyte);
        auto innermost = ouro::FrameAllocator::create_on(*inner, kMegabyte / 2);
        use_rightly(*innermost, {.max_size = 200});
        innermost->reset();
        use_rightly(*inner, {.max_size = 100});
        frame->rewind(mark);
        frame->reset();
    }
}

void probe_stack(std::string_view mistake) {
    auto stack = ouro::StackAllocator::create({.max_bytes = kMegabyte});
    require(stack.has_value(), "no stack");
    if (mistake == "none") use_rightly(*stack, {.keeps_order = true});
    probe_block(mistake, *stack);
}

void probe_two_ended(std::string_view mistake, ouro::StackEnd end) {
    auto outer = ouro::FrameAllocator::create({.max_bytes = 2 * kMegabyte});
    auto stack = ouro::TwoEndedStack::create({.max_bytes = kMegabyte});
    auto borrowed = ouro::TwoEndedStack::create_on(*outer, kMegabyte);
    require(stack && borrowed, "no stack");
    auto& resource = end == ouro::StackEnd::front ? stack->front() : stack->back();
    auto& other = end == ouro::StackEnd::front ? stack->back() : stack->front();
    if (mistake == "none") {
        const auto beside = other.allocate(1000, 64);
        std::memset(beside->data, 1, beside->size);
        for (int round = 0; round < 2; ++round) {
            use_rightly(resource, {.keeps_order = true});
            use_rightly(borrowed->front(), {.keeps_order = true});
            use_rightly(borrowed->back(), {.keeps_order = true});
            const ouro::TwoEndedStack::Scope scope(resource);
            std::memset(resource.allocate(100'000)->data, 1, 100'000);
            stack->trim();
        }
        stack->trim();
        require_filled(*beside, beside->size, std::byte{1});
    }
    const auto block = resource.allocate(kBytes);
    std::byte* const outside = end == ouro::StackEnd::front ? block->end() : block->data - 1;
    require(make_mistake(mistake, *block, outside, [&] { resource.deallocate(*block); }), "no such mistake");
}

void probe_front(std::string_view mistake) {
    probe_two_ended(mistake, ouro::StackEnd::front);
}

void probe_back(std::string_view mistake) {
    probe_two_ended(mistake, ouro::StackEnd::back);
}

// More blocks than a pool keeps at hand, so that some lie on its list.
void use_many(ouro::PoolAllocator& pool) {
    std::array<MemoryBlock, 700> blocks;
    for (MemoryBlock& block : blocks) {
        block = *pool.allocate(kBytes);
        std::memset(block.data, 1, block.size);
    }
    for (const MemoryBlock& block : blocks)
        pool.deallocate(block);
}

void probe_pool(std::string_view mistake) {
    auto pool = ouro::PoolAllocator::create({.block_bytes = kBytes, .max_blocks = 2000});
    require(pool.has_value(), "no pool");
    for (int round = 0; mistake == "none" && round < 3; ++round) {
        use_rightly(*pool, {.max_size = kBytes, .max_alignment = 16});
        use_many(*pool);
        require(pool->check() == Status::ok, "a pool is not sound");
        pool->trim();
        use_many(*pool);
        const auto elsewhere = pool->allocate(kBytes);
        auto free = [&] { pool->deallocate(*elsewhere); };
        auto thread =
            ouro::os::Thread::start([](void* task) { (*static_cast<decltype(free)*>(task))(); }, &free);
        require(thread.has_value(), "no thread");
        thread->join();
        use_many(*pool);
        pool->reset();
    }
    probe_block(mistake, *pool);
}

struct Object {
    std::array<std::byte, kBytes> bytes;
};

void probe_typed_pool(std::string_view mistake) {
    auto pool = ouro::Pool<Object>::create({.max_objects = 2000});
    require(pool.has_value(), "no pool");
    for (int round = 0; mistake == "none" && round < 3; ++round) {
        std::array<Object*, 700> objects{};
        for (Object*& object : objects)
            object = *pool->make(Object{});
        for (std::size_t index = 0; index < objects.size(); index += 2)
            pool->destroy(objects[index]);
        for (const Object& object : *pool)
            require(object.bytes[5] == std::byte{0}, "an object does not hold what was written");
        require(pool->check() == Status::ok, "a pool is not sound");
        auto moved = std::move(*pool);
        moved.clear();
        moved.trim();
        *pool = std::move(moved);
    }
    Object* const object = *pool->make();
    const MemoryBlock block{reinterpret_cast<std::byte*>(object), sizeof(Object)};
    require(make_mistake(mistake, block, block.end(), [&] { pool->destroy(object); }), "no such mistake");
}

// Frees on another thread what this one allocated, and the other way round.
void trade(ouro::SmallObjectAllocator& heap) {
    std::array<MemoryBlock, 3000> blocks;
    for (std::size_t index = 0; index < blocks.size(); ++index)
        blocks[index] = *heap.allocate(16 + index % 100);
    auto work = [&] {
        for (MemoryBlock& block : blocks) {
            heap.deallocate(block);
            block = *heap.allocate(kBytes);
        }
    };
    auto thread = ouro::os::Thread::start([](void* task) { (*static_cast<decltype(work)*>(task))(); }, &work);
    require(thread.has_value(), "no thread");
    thread->join();
    for (const MemoryBlock& block : blocks)
        heap.deallocate(block);
}

void probe_small_objects(std::string_view mistake) {
    auto heap = ouro::SmallObjectAllocator::create({.max_bytes = 64 * kMegabyte});
    require(heap.has_value(), "no heap");
    for (int round = 0; mistake == "none" && round < 2; ++round) {
        use_rightly(*heap, {});
        use_rightly(*heap, {.max_size = 300'000});
        trade(*heap);
        require(heap->check() == Status::ok, "a heap is not sound");
        heap->purge();
        auto outer = ouro::FrameAllocator::create({.max_bytes = 9 * kMegabyte});
        auto inner = ouro::SmallObjectAllocator::create_on(*outer, 8 * kMegabyte);
        use_rightly(*inner, {});
        heap->reset();
        use_rightly(*heap, {});
    }
    probe_block(mistake, *heap);
}

void probe_after_reset(std::string_view mistake) {
    auto heap = ouro::SmallObjectAllocator::create({.max_bytes = 64 * kMegabyte});
    require(heap.has_value(), "no heap");
    const auto block = heap->allocate(kBytes);
    require(make_mistake(mistake, *block, block->end(), [&] { heap->reset(); }), "no such mistake");
}

void probe_tlsf(std::string_view mistake) {
    auto heap = ouro::TlsfAllocator::create({.max_bytes = 16 * kMegabyte});
    require(heap.has_value(), "no heap");
    if (mistake == "none") {
        for (int round = 0; round < 2; ++round) {
            use_rightly(*heap, {});
            use_rightly(*heap, {.max_size = 100'000});
            heap->trim();
            require(heap->check() == Status::ok, "a heap is not sound");
        }
        auto small = ouro::SmallObjectAllocator::create({.max_bytes = 64 * kMegabyte});
        auto growing = ouro::TlsfAllocator::create_growing(*small, {.region_bytes = kMegabyte / 4});
        use_rightly(*growing, {.max_size = 60'000});
        growing->trim();
        const auto image = small->allocate(kMegabyte);
        const auto alone = ouro::TlsfHeap::create_in(*image);
        std::array<MemoryBlock, 50> blocks;
        for (std::size_t index = 0; index < blocks.size(); ++index) {
            blocks[index] = *(*alone)->allocate(index * 77 + 1);
            std::memset(blocks[index].data, 5, blocks[index].size);
        }
        for (std::size_t index = 0; index < blocks.size(); index += 2)
            (*alone)->deallocate(blocks[index]);
        for (std::size_t index = 1; index < blocks.size(); index += 2) {
            const std::size_t before = blocks[index].size;
            blocks[index] = *(*alone)->reallocate(blocks[index], before + 200);
            require_filled(blocks[index], before, std::byte{5});
        }
        require((*alone)->check() == Status::ok, "a heap alone is not sound");
    }
    probe_block(mistake, *heap);
}

void probe_partition(std::string_view mistake, ouro::ThreadSafety safety, ouro::PartitionGuards guards) {
    const ouro::PartitionOptions options[] = {
        {.name = "one", .max_bytes = 16 * kMegabyte, .guards = guards, .thread_safety = safety},
        {.name = "other", .max_bytes = 4 * kMegabyte, .thread_safety = safety}};
    auto set = ouro::PartitionAllocator::create({.partitions = options});
    require(set.has_value(), "no partitions");
    for (int round = 0; mistake == "none" && round < 2; ++round) {
        use_rightly((*set)[0], {});
        use_rightly((*set)[0], {.max_size = 150'000});
        use_rightly((*set)[1], {});
        set->trim();
        require(set->check() == Status::ok, "partitions are not sound");
        auto outer = ouro::FrameAllocator::create({.max_bytes = 64 * kMegabyte});
        const ouro::PartitionOptions inside[] = {{.max_bytes = 4 * kMegabyte, .thread_safety = safety}};
        auto borrowed = ouro::PartitionAllocator::create_on(*outer, {.partitions = inside});
        require(borrowed.has_value(), "no borrowed partition");
        use_rightly((*borrowed)[0], {.max_size = 100'000});
    }
    probe_block(mistake, (*set)[0]);
}

void probe_single_partition(std::string_view mistake) {
    probe_partition(mistake, ouro::ThreadSafety::single_thread, ouro::PartitionGuards::none);
}

void probe_guarded_partition(std::string_view mistake) {
    probe_partition(mistake, ouro::ThreadSafety::single_thread, ouro::PartitionGuards::spans);
}

void probe_shared_partition(std::string_view mistake) {
    probe_partition(mistake, ouro::ThreadSafety::any_thread, ouro::PartitionGuards::none);
}

void probe_huge_pages(std::string_view mistake) {
    auto arena = ouro::HugePageArena::create(
        {.max_bytes = 16 * kMegabyte, .chunk_bytes = 2 * kMegabyte, .pages = ouro::os::PageKind::normal});
    require(arena.has_value(), "no arena");
    for (int round = 0; mistake == "none" && round < 2; ++round) {
        use_rightly(*arena, {});
        const auto mark = arena->mark();
        use_rightly(*arena, {.max_size = 100'000});
        arena->rewind(mark);
        arena->trim();
        auto outer = ouro::FrameAllocator::create({.max_bytes = 9 * kMegabyte});
        auto borrowed = ouro::HugePageArena::create_on(*outer, 8 * kMegabyte);
        use_rightly(*borrowed, {});
        arena->reset();
    }
    probe_block(mistake, *arena);
}

void probe_system(std::string_view mistake) {
    auto system = ouro::SystemAllocator::create({});
    require(system.has_value(), "no system allocator");
    for (int round = 0; mistake == "none" && round < 2; ++round) {
        use_rightly(*system, {.max_size = 60'000});
        system->trim();
    }
    // Behind it is a page of nobody's, or somebody's: not ours to find.
    const auto block = system->allocate(kBytes);
    require(make_mistake(mistake, *block, block->data, [&] { system->deallocate(*block); }),
            "no such mistake");
}

void probe_guarded(std::string_view mistake) {
    auto heap = ouro::TlsfAllocator::create({.max_bytes = 16 * kMegabyte});
    require(heap.has_value(), "no heap");
    {
        auto guarded = ouro::GuardedAllocator<ouro::HardeningTier::checked>::create_on(*heap, {});
        require(guarded.has_value(), "no guarded allocator");
        if (mistake == "none") use_rightly(*guarded, {});
        probe_block(mistake, *guarded);
    }
    heap->trim();
}

struct Strategy {
    std::string_view name;
    void (*probe)(std::string_view mistake);
};

constexpr Strategy kStrategies[] = {
    {"frame", probe_frame},
    {"stack", probe_stack},
    {"two-ended stack, front", probe_front},
    {"two-ended stack, back", probe_back},
    {"pool", probe_pool},
    {"pool of objects", probe_typed_pool},
    {"small objects", probe_small_objects},
    {"small objects, reset", probe_after_reset},
    {"tlsf", probe_tlsf},
    {"partition", probe_single_partition},
    {"partition with guards", probe_guarded_partition},
    {"partition for any thread", probe_shared_partition},
    {"huge page arena", probe_huge_pages},
    {"system", probe_system},
    {"guarded tlsf", probe_guarded},
};

}  // namespace

int main(int count, char** arguments) {
    for (const Strategy& each : kStrategies) {
        if (count < 3) {
            std::printf("%.*s\n", static_cast<int>(each.name.size()), each.name.data());
        } else if (each.name == arguments[1]) {
            each.probe(arguments[2]);
            return 0;
        }
    }
    return count < 3 ? 0 : 2;
}
