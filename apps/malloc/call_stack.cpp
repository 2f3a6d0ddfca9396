#include "call_stack.hpp"

#include <cstdint>

#include <unwind.h>

// Where the library's own code lies; the linker knows.
extern "C" {
[[gnu::visibility("hidden")]] extern const char __ehdr_start[];
[[gnu::visibility("hidden")]] extern const char etext[];
}

namespace ouro::process_heap {
namespace {

struct Walk {
    std::span<void*> frames;
    std::size_t count = 0;
};

bool is_own(std::uintptr_t address) noexcept {
    return address >= reinterpret_cast<std::uintptr_t>(__ehdr_start) &&
           address < reinterpret_cast<std::uintptr_t>(etext);
}

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
    auto& walk = *static_cast<Walk*>(argument);
    const auto address = static_cast<std::uintptr_t>(::_Unwind_GetIP(context));
    if (address == 0 || walk.count == walk.frames.size()) return _URC_END_OF_STACK;
    if (walk.count != 0 || !is_own(address)) walk.frames[walk.count++] = reinterpret_cast<void*>(address);
    return walk.count == walk.frames.size() ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

std::size_t capture_callers(std::span<void*> frames) noexcept {
    Walk walk{frames};
    static_cast<void>(::_Unwind_Backtrace(visit, &walk));
    return walk.count;
}

}  // namespace ouro::process_heap
