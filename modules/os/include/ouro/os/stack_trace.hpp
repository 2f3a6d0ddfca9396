#pragma once

#include <cstddef>
#include <span>

namespace ouro::os {

// Fills in the return addresses of the calling functions, innermost first, leaving out the first `skip`
// callers, and returns how many there are. Walks frame pointers within this thread's stack: a few nanoseconds
// a frame, no lock, no allocation, safe in a signal handler. Code built without -fno-omit-frame-pointer ends
// or shortens the walk; unwind_stack in symbolize.hpp does not need frame pointers. wasm32 cannot see its
// stack and returns 0.
[[nodiscard]] std::size_t capture_stack(std::span<void*> frames, unsigned skip = 0) noexcept;

}  // namespace ouro::os
