#include "exchange.hpp"
#include "exercise.hpp"

#include <ouro/memory/stack_allocator.hpp>

#include <utility>

using ouro::Expected;
using ouro::MemoryBlock;
using ouro::MemoryResource;
using ouro::Status;

const char* library_compiler() {
    return __VERSION__;
}

MemoryResource* library_resource() {
    static auto stack =
        ouro::StackAllocator::create({.name = "exchanged", .max_bytes = std::size_t{1} << 20});
    return stack ? &*stack : nullptr;
}

Expected<MemoryBlock> library_allocate(MemoryResource* resource, std::size_t size, std::size_t alignment) {
    return resource->allocate(size, alignment);
}

Expected<MemoryBlock> library_reallocate(MemoryResource* resource, MemoryBlock block, std::size_t new_size,
                                         std::size_t alignment) {
    return resource->reallocate(block, new_size, alignment);
}

Expected<MemoryBlock> library_resize(MemoryResource* resource, MemoryBlock block, std::size_t new_size,
                                     std::size_t alignment) {
    return resource->try_resize(block, new_size, alignment);
}

void library_deallocate(MemoryResource* resource, MemoryBlock block, std::size_t alignment) {
    resource->deallocate(block, alignment);
}

Expected<MemoryBlock> library_block_failure(Status status) {
    return status;
}

Expected<void> library_void_failure(Status status) {
    return status;
}

Expected<std::uint64_t> library_number_failure(Status status) {
    return status;
}

Expected<std::uint64_t> library_number(std::uint64_t number) {
    return number;
}

int library_exercise(MemoryResource* resource) {
    return exercise(*resource);
}
