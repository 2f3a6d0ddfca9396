#pragma once

#include <ouro/memory/memory_resource.hpp>

// A heap of a shared library with a copy of Ouroboros that hides none of its names, so that the loader gives
// both copies the same where it can.
namespace copy {

// Lives as long as the process; null when it could not be made.
ouro::MemoryResource* own_heap();

}  // namespace copy
