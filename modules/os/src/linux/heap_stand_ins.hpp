#pragma once

#include <ouro/os/heap_calls.hpp>

#include <span>
#include <string_view>

namespace ouro::os {

// Functions that look like those of the C and C++ libraries, tell of the call, and pass it on.
struct HeapStandIn {
    const char* name;
    void* function;
};
[[nodiscard]] std::span<const HeapStandIn> heap_stand_ins() noexcept;

// Looks up where calls go on to. Requires: before any stand-in is called. False when one that is there must
// not be used, since its original cannot be found.
[[nodiscard]] bool find_original(const HeapStandIn& stand_in) noexcept;

// From now on they tell this function; with null nobody, and whoever was inside is out when it returns.
void tell_heap_calls(HeapCallFunction function, void* context) noexcept;

}  // namespace ouro::os
