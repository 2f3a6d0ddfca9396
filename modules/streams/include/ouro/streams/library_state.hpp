#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/streams/state_ring.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace ouro {

// Keeps the variables of a loaded library with the ring, as StateRing::keep_outside does, so that going back
// undoes what the library remembers of itself. Bytes in `except` stay out, such as a lock that others hold
// across ticks. Returns how many bytes are kept. Fails as os::find_library_data and keep_outside do, and then
// none of them is kept. Requires: the library stays loaded as long as the ring commits or goes back.
//
//     keep_library(*ring, "outside", "libsqlite3");
[[nodiscard]] Expected<std::size_t> keep_library(StateRing& ring, std::string_view segment,
                                                 std::string_view library,
                                                 std::span<const MemoryBlock> except = {}) noexcept;

}  // namespace ouro
