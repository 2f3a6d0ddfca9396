#pragma once

#include <ouro/memory/memory_resource.hpp>

#include <cstddef>

namespace ouro::probe {

// What both functions of a pair do.
template <class Resource>
std::byte* work(Resource& resource, std::size_t size) {
    const auto first = resource.allocate(64);
    const auto second = resource.allocate(size, 32);
    if (!first || !second) return nullptr;
    resource.deallocate(*second, 32);
    return first->data;
}

}  // namespace ouro::probe
