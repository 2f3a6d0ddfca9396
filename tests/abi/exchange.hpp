#pragma once

#include <ouro/memory/memory_resource.hpp>

#include <cstddef>
#include <cstdint>

// What a shared library and a program of another compiler do with each other's memory. The library is in
// library.cpp; both sides have their own copy of Ouroboros, made by their own compiler.
namespace exchange {

// Says which compiler made the library.
const char* compiler();

// A resource that lives in the library, as long as the process.
ouro::MemoryResource* own_resource();

// The library allocates from whatever it is given; the caller sees the result as it is.
ouro::Expected<ouro::MemoryBlock> allocate(ouro::MemoryResource* resource, std::size_t size,
                                           std::size_t alignment);
ouro::Expected<ouro::MemoryBlock> reallocate(ouro::MemoryResource* resource, ouro::MemoryBlock block,
                                             std::size_t new_size, std::size_t alignment);
ouro::Expected<ouro::MemoryBlock> resize(ouro::MemoryResource* resource, ouro::MemoryBlock block,
                                         std::size_t new_size, std::size_t alignment);
void deallocate(ouro::MemoryResource* resource, ouro::MemoryBlock block, std::size_t alignment);

// Each status through an Expected of every kind that crosses the border.
ouro::Expected<ouro::MemoryBlock> block_failure(ouro::Status status);
ouro::Expected<void> void_failure(ouro::Status status);
ouro::Expected<std::uint64_t> number_failure(ouro::Status status);
ouro::Expected<std::uint64_t> number(std::uint64_t number);

// Calls everything that a resource has, in place of the caller; the step that went wrong, or 0.
int exercise_it(ouro::MemoryResource* resource);

}  // namespace exchange
