#pragma once

namespace ouro {

#ifndef OURO_OBSERVE
#    define OURO_OBSERVE 1
#endif

// Whether tags, budgets and the profiler are compiled in (the build's OURO_OBSERVE). Without them a
// ChargedAllocator is the resource below and costs nothing.
inline constexpr bool kObserving = OURO_OBSERVE != 0;

}  // namespace ouro
