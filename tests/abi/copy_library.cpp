#include "copy.hpp"

#include <ouro/memory/small_object_allocator.hpp>

namespace copy {

ouro::MemoryResource* own_heap() {
    static auto heap = ouro::SmallObjectAllocator::create({.name = "library"});
    return heap ? &*heap : nullptr;
}

}  // namespace copy
