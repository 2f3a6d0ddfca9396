#include "stack_bounds.hpp"

#include <ouro/os/stack_trace.hpp>

#include <cstdint>

namespace ouro::os {
namespace {

struct Frame {
    const Frame* caller;
    void* return_address;
};

// The frame of the caller, or null when what stands there cannot be one: a frame is believed only when it
// lies above the one before, aligned, and wholly inside the stack.
const Frame* caller_of(const Frame* frame, std::uintptr_t last) noexcept {
    const auto caller = reinterpret_cast<std::uintptr_t>(frame->caller);
    const bool plausible =
        caller > reinterpret_cast<std::uintptr_t>(frame) && caller <= last && caller % alignof(Frame) == 0;
    return plausible ? frame->caller : nullptr;
}

}  // namespace

[[gnu::noinline]] std::size_t capture_stack(std::span<void*> frames, unsigned skip) noexcept {
    const auto* frame = static_cast<const Frame*>(__builtin_frame_address(0));
    const StackBounds bounds = bounds_around(reinterpret_cast<std::uintptr_t>(frame));
    // Without bounds nothing but this frame itself is safe to read.
    const std::uintptr_t last = bounds.high != 0 ? bounds.high - sizeof(Frame) : 0;
    for (; skip != 0 && frame != nullptr; --skip)
        frame = caller_of(frame, last);
    std::size_t count = 0;
    while (count < frames.size() && frame != nullptr && frame->return_address != nullptr) {
        frames[count++] = frame->return_address;
        frame = caller_of(frame, last);
    }
    return count;
}

}  // namespace ouro::os
