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
StackBounds find_bounds(std::uintptr_t address) noexcept {
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
    if (!known.contain(address)) known = find_bounds(address);
    return known;
}

// A frame is believed only when it lies above the one before and inside the stack.
bool is_plausible(const Frame* frame, const Frame* below, std::uintptr_t top) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(frame);
    return frame > below && address % alignof(Frame) == 0 && address < top && top - address >= sizeof(Frame);
}

}  // namespace

[[gnu::noinline]] std::size_t capture_stack(std::span<void*> frames, unsigned skip) noexcept {
    const auto* frame = static_cast<const Frame*>(__builtin_frame_address(0));
    const std::uintptr_t top = bounds_around(reinterpret_cast<std::uintptr_t>(frame)).high;
    std::size_t count = 0;
    while (count < frames.size() && frame->return_address != nullptr) {
        if (skip != 0) {
            --skip;
        } else {
            frames[count++] = frame->return_address;
        }
        const Frame* caller = frame->caller;
        if (!is_plausible(caller, frame, top)) break;
        frame = caller;
    }
    return count;
}

}  // namespace ouro::os
