#pragma once

#include <ouro/base/handle.hpp>

#include <cstdint>

namespace ouro {

// Names the ticks that a branch left behind; see StateRing::branch.
using KeptFuture = Handle<struct KeptFutureTag, std::uint64_t>;

}  // namespace ouro
