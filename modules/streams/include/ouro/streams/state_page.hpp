#pragma once

#include <cstddef>
#include <cstdint>

namespace ouro {

// A moment of the simulation, counted from the fresh image, which is tick 0.
using Tick = std::uint64_t;

// The unit in which the state is kept, compared and hashed: the same on every platform, whatever the
// system's own pages are.
inline constexpr std::size_t kStatePageBytes = 4096;
inline constexpr unsigned kStatePageShift = 12;
static_assert(kStatePageBytes == std::size_t{1} << kStatePageShift);

// What fine segments keep apart within a page. A page has as many lines as a word has bits.
inline constexpr std::size_t kStateLineBytes = 64;
inline constexpr unsigned kStateLineShift = 6;
static_assert(kStateLineBytes == std::size_t{1} << kStateLineShift);
static_assert(kStatePageBytes / kStateLineBytes == 64);

}  // namespace ouro
