#include "text_file.hpp"

#include <ouro/os/stack_trace.hpp>

#include <cstdint>

#include <pthread.h>

namespace ouro::os {
namespace {

struct Frame {
    const Frame* caller;
    void* return_address;
};

// Addresses that hold the frames of one stack: surely mapped.
struct StackBounds {
    std::uintptr_t low = 0;
    std::uintptr_t high = 0;

    [[nodiscard]] bool contain(std::uintptr_t address) const noexcept {
        return address >= low && address < high;
    }
};

// The mapping around an address, from the kernel's own table; neither allocates nor locks.
[[gnu::cold, gnu::noinline]] StackBounds find_bounds(std::uintptr_t address) noexcept {
    struct Search {
        std::uintptr_t address;
        StackBounds found;
    } search{address, {}};
    (void)for_each_line(
        "/proc/self/maps",
        [](std::string_view line, void* context) {
            auto& wanted = *static_cast<Search*>(context);
            const std::size_t dash = line.find('-');
            const auto low = parse_number(text_until(line, dash), 16);
            const auto high = parse_number(text_from(line, dash + 1), 16);
            if (!low || !high) return true;
            const StackBounds bounds{static_cast<std::uintptr_t>(*low), static_cast<std::uintptr_t>(*high)};
            if (!bounds.contain(wanted.address)) return true;
            wanted.found = bounds;
            return false;
        },
        &search);
    // The mapping may have grown together with a neighbour that goes away again; a thread's control block
    // lies above its frames.
    const auto control_block = static_cast<std::uintptr_t>(::pthread_self());
    if (search.found.contain(control_block) && control_block > address) search.found.high = control_block;
    return search.found;
}

// Remembered for each thread. A stack that grew, an alternate signal stack or a fiber's is looked up again.
StackBounds bounds_around(std::uintptr_t address) noexcept {
    [[gnu::tls_model("initial-exec")]] static thread_local StackBounds known;
    if (!known.contain(address)) [[unlikely]]
        known = find_bounds(address);
    return known;
}

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
