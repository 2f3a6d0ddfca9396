#include "caller_list.hpp"

#include <ouro/os/stack_trace.hpp>

#include <cstdint>

#include <unwind.h>

namespace ouro::os {
namespace {

struct Walk {
    CallerList& list;
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
    return walk.list.add(address) ? _URC_NO_REASON : _URC_END_OF_STACK;
}

}  // namespace

void walk_by_unwinder(CallerList& list) noexcept {
    Walk walk{list};
    static_cast<void>(::_Unwind_Backtrace(visit, &walk));
}

[[gnu::noinline]] std::size_t capture_callers(std::span<void*> frames, const void* first) noexcept {
    if (frames.empty()) return 0;
    // What the calling convention leaves at the start of a function with a frame pointer, as this one is: the
    // caller's frame pointer, and where it goes on.
    const auto* const frame = static_cast<const std::uintptr_t*>(__builtin_frame_address(0));
    void* const caller = __builtin_return_address(0);
    CallerList list(frames, first != nullptr ? first : caller);
    const CallPlace place{.address = reinterpret_cast<std::uintptr_t>(caller),
                          .stack = reinterpret_cast<std::uintptr_t>(frame + 2),
                          .frame = *frame};
    if (!walk_by_rules(place, list)) {
        list.clear();
        walk_by_unwinder(list);
    }
    if (list.count() != 0) return list.count();
    // The frames seen are those of whoever looks: the same for all. The address at least is the caller's.
    frames[0] = first != nullptr ? const_cast<void*>(first) : caller;
    return 1;
}

}  // namespace ouro::os
