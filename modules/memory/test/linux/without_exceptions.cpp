#include "without_exceptions.hpp"

#include <ouro/memory/pmr.hpp>
#include <ouro/memory/stl_allocator.hpp>

#include <memory_resource>
#include <numeric>
#include <vector>

#if defined(__cpp_exceptions)
#    error "this file is to be compiled without exceptions"
#endif

namespace ouro::testing_support {

std::size_t sum_of_ones_by_stl(MemoryResource& resource, std::size_t count) {
    const std::vector<std::size_t, StlAllocator<std::size_t>> ones(count, 1, resource);
    return std::accumulate(ones.begin(), ones.end(), std::size_t{0});
}

std::size_t sum_of_ones_by_pmr(MemoryResource& resource, std::size_t count) {
    PmrResource adapter{Allocator(resource)};
    const std::pmr::vector<std::size_t> ones(count, 1, &adapter);
    return std::accumulate(ones.begin(), ones.end(), std::size_t{0});
}

std::size_t sum_of_ones_there_and_back(MemoryResource& resource, std::size_t count) {
    PmrResource adapter{Allocator(resource)};
    FromPmr back(adapter);
    return sum_of_ones_by_stl(back, count);
}

}  // namespace ouro::testing_support
