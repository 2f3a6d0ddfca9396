#include <ouro/os/stack_trace.hpp>

#include <cstdint>

#include <unwind.h>

namespace ouro::os {
namespace {

// How many frames may come before the first wanted one: those of whoever looks, and some signal's.
constexpr std::size_t kMostBefore = 256;

// A walk from the inside out; what is noted before the first wanted address is written over by it.
struct Walk {
    std::span<void*> frames;
    std::uintptr_t first;
    std::size_t count = 0;
    std::size_t visited = 0;
    bool is_found = false;
    // Of the frame visited last.
    std::uintptr_t address = 0;
    std::uintptr_t stack = 0;
};

// Tables may be wrong, or lead a frame back to itself. Callers lie further out, except across the frame of a
// signal, which may have had a stack of its own.
bool leads_outwards(const Walk& walk, std::uintptr_t address, std::uintptr_t stack, bool is_signal) noexcept {
    if (is_signal || stack > walk.stack) return true;
    return stack == walk.stack && address != walk.address;
}

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
    auto& walk = *static_cast<Walk*>(argument);
    int is_signal = 0;
    const auto address = static_cast<std::uintptr_t>(::_Unwind_GetIPInfo(context, &is_signal));
    const auto stack = static_cast<std::uintptr_t>(::_Unwind_GetCFA(context));
    if (address == 0 || !leads_outwards(walk, address, stack, is_signal != 0)) return _URC_END_OF_STACK;
    walk.address = address;
    walk.stack = stack;
    // This function's own frame is never wanted.
    if (walk.visited++ == 0) return _URC_NO_REASON;
    if (!walk.is_found && address == walk.first) {
        walk.is_found = true;
        walk.count = 0;
    }
    if (walk.count < walk.frames.size()) walk.frames[walk.count++] = reinterpret_cast<void*>(address);
    const bool is_full = walk.count == walk.frames.size();
    if (walk.is_found || walk.first == 0) return is_full ? _URC_END_OF_STACK : _URC_NO_REASON;
    return walk.visited > kMostBefore ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

[[gnu::noinline]] std::size_t capture_callers(std::span<void*> frames, const void* first) noexcept {
    if (frames.empty()) return 0;
    Walk walk{frames, reinterpret_cast<std::uintptr_t>(first)};
    static_cast<void>(::_Unwind_Backtrace(visit, &walk));
    if (first == nullptr || walk.is_found) return walk.count;
    // The frames seen are those of whoever looks: the same for all. The address at least is the caller's.
    frames[0] = const_cast<void*>(first);
    return 1;
}

}  // namespace ouro::os
