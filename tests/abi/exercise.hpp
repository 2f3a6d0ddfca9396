#pragma once

#include <ouro/memory/allocator.hpp>
#include <ouro/memory/memory_resource.hpp>

#include <cstring>

// Uses every function of a resource that was made elsewhere. Compiled into the library and into the program,
// each for the resources of the other. Internal to each, so that neither runs the other's copy.
namespace {

inline bool holds(ouro::MemoryBlock block, std::size_t bytes, int value) {
    for (std::size_t i = 0; i < bytes; ++i) {
        if (block.data[i] != static_cast<std::byte>(value)) return false;
    }
    return true;
}

inline int exercise_blocks(ouro::MemoryResource& resource) {
    const auto first = resource.allocate(100, 64);
    if (!first || first->size < 100 || !ouro::is_aligned(first->data, 64)) return 1;
    if (!resource.owns(first->data)) return 2;
    std::memset(first->data, 5, first->size);
    const auto grown = resource.reallocate(*first, 5000, 64);
    if (!grown || grown->size < 5000 || !holds(*grown, 100, 5)) return 3;
    const auto resized = resource.try_resize(*grown, 6000, 64);
    if (!resized || resized->data != grown->data || resized->size < 6000) return 4;
    if (resource.allocate(0, 16).status() != ouro::Status::zero_size) return 5;
    if (resource.allocate(16, 3).status() != ouro::Status::bad_alignment) return 6;
    resource.deallocate(*resized, 64);
    return 0;
}

inline int exercise_reports(ouro::MemoryResource& resource) {
    if (!resource.is_equal(resource)) return 11;
    if (resource.check() != ouro::Status::ok) return 12;
    const ouro::ResourceInfo info = resource.info();
    if (info.name != "exchanged" || info.thread_safety != ouro::ThreadSafety::single_thread) return 13;
    const auto block = resource.allocate(64, 16);
    const ouro::ResourceStats stats = resource.stats();
    if (!block || stats.live_bytes < 64 || stats.allocations == 0 || stats.committed_bytes < 64) return 14;
    resource.deallocate(*block, 16);
    return 0;
}

inline int exercise_handle(ouro::MemoryResource& resource) {
    const ouro::Allocator memory = resource;
    const std::size_t before = resource.stats().live_bytes;
    {
        const auto scope = ouro::AllocatorScope::open(memory);
        if (!scope || !memory.allocate(1000)) return 21;
        const auto number = memory.make<long>(42);
        if (!number || **number != 42) return 22;
    }
    return resource.stats().live_bytes == before ? 0 : 23;
}

inline int exercise(ouro::MemoryResource& resource) {
    if (const int step = exercise_blocks(resource); step != 0) return step;
    if (const int step = exercise_reports(resource); step != 0) return step;
    return exercise_handle(resource);
}

}  // namespace
