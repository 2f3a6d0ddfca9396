#pragma once

#include <ouro/memory/memory_resource.hpp>

#include <cstddef>

// Standard containers on our memory, in code that is compiled without exceptions.
namespace ouro::testing_support {

// The sum of a vector of `count` ones that lives in the resource.
std::size_t sum_of_ones_by_stl(MemoryResource& resource, std::size_t count);
std::size_t sum_of_ones_by_pmr(MemoryResource& resource, std::size_t count);
// The same through a std::pmr resource and back.
std::size_t sum_of_ones_there_and_back(MemoryResource& resource, std::size_t count);

}  // namespace ouro::testing_support
