#include "exchange.hpp"
#include "exercise.hpp"

#include <ouro/memory/stack_allocator.hpp>

#include <utility>

using ouro::Expected;
using ouro::MemoryBlock;
using ouro::MemoryResource;
using ouro::Status;

namespace exchange {

const char* compiler() {
    return __VERSION__;
}

MemoryResource* own_resource() {
    static auto stack =
        ouro::StackAllocator::create({.name = "exchanged", .max_bytes = std::size_t{1} << 20});
    return stack ? &*stack : nullptr;
}

Expected<MemoryBlock> allocate(MemoryResource* resource, std::size_t size, std::size_t alignment) {
    return resource->allocate(size, alignment);
}

Expected<MemoryBlock> reallocate(MemoryResource* resource, MemoryBlock block, std::size_t new_size,
                                 std::size_t alignment) {
    return resource->reallocate(block, new_size, alignment);
}

Expected<MemoryBlock> resize(MemoryResource* resource, MemoryBlock block, std::size_t new_size,
                             std::size_t alignment) {
    return resource->try_resize(block, new_size, alignment);
}

void deallocate(MemoryResource* resource, MemoryBlock block, std::size_t alignment) {
    resource->deallocate(block, alignment);
}

Expected<MemoryBlock> block_failure(Status status) {
    return status;
}

Expected<void> void_failure(Status status) {
    return status;
}

Expected<std::uint64_t> number_failure(Status status) {
    return status;
}

Expected<std::uint64_t> number(std::uint64_t number) {
    return number;
}

int exercise_it(MemoryResource* resource) {
    return exercise(*resource);
}

}  // namespace exchange
