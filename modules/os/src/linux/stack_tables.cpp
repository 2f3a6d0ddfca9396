#include <ouro/os/stack_trace.hpp>

#include <cstdint>

#include <unwind.h>

namespace ouro::os {
namespace {

// A walk from the inside out; what is noted before the first wanted address is written over by it.
struct Walk {
    std::span<void*> frames;
    std::uintptr_t first;
    std::size_t count = 0;
    // This function's own frame is never wanted.
    bool is_outside = false;
    bool is_found = false;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
    auto& walk = *static_cast<Walk*>(argument);
    const auto address = static_cast<std::uintptr_t>(::_Unwind_GetIP(context));
    if (address == 0) return _URC_END_OF_STACK;
    if (!walk.is_outside) {
        walk.is_outside = true;
        return _URC_NO_REASON;
    }
    if (!walk.is_found && address == walk.first) {
        walk.is_found = true;
        walk.count = 0;
    }
    if (walk.count < walk.frames.size()) walk.frames[walk.count++] = reinterpret_cast<void*>(address);
    return walk.is_found && walk.count == walk.frames.size() ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

[[gnu::noinline]] std::size_t capture_callers(std::span<void*> frames, const void* first) noexcept {
    Walk walk{frames, reinterpret_cast<std::uintptr_t>(first)};
    static_cast<void>(::_Unwind_Backtrace(visit, &walk));
    return walk.count;
}

}  // namespace ouro::os
