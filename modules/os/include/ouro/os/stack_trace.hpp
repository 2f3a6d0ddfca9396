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

// Where the function around it returns to, when it is not inlined; null where that cannot be seen.
#if defined(__wasm__)
#    define OURO_RETURN_ADDRESS() static_cast<void*>(nullptr)
#else
#    define OURO_RETURN_ADDRESS() __builtin_return_address(0)
#endif

// The same by the tables that exceptions use, so that code needs no frame pointers, from one of the return
// addresses on: OURO_RETURN_ADDRESS() in a function that is not inlined leaves out that function and all it
// called. From the caller's own when `first` is null. Only `first` itself when the walk does not come to it:
// code without such tables (-fno-asynchronous-unwind-tables, without exceptions) ends it, and so do tables
// that lead out of the stack. A few nanoseconds a frame on x86-64 with glibc 2.35 or later, for addresses
// that were met before; about a microsecond for others, and elsewhere. A stack with a signal's frame in it,
// code that was made while the program runs, or another frame that takes more than a rule is walked by the
// compiler's unwinder. The first call on a stack reads the system's list of mappings. No allocation, no lock
// but what that unwinder takes. Not for signal handlers. wasm32 returns 0.
[[nodiscard]] std::size_t capture_callers(std::span<void*> frames, const void* first) noexcept;

}  // namespace ouro::os
