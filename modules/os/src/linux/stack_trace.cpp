#include <ouro/os/stack_trace.hpp>

#include <cstdint>

#include <pthread.h>
#include <unistd.h>

// glibc's note of where the main thread's stack began.
extern "C" void* __libc_stack_end;

namespace ouro::os {
namespace {

struct Frame {
    const Frame* caller;
    void* return_address;
};

// The address above which this thread's stack has no frames. Found without pthread_getattr_np, which
// allocates: a thread's control block lies at the top of its stack, and the main thread's top is known.
std::uintptr_t stack_top() noexcept {
    [[gnu::tls_model("initial-exec")]] static thread_local std::uintptr_t top = 0;
    if (top == 0) {
        top = ::gettid() == ::getpid() ? reinterpret_cast<std::uintptr_t>(__libc_stack_end)
                                       : static_cast<std::uintptr_t>(::pthread_self());
    }
    return top;
}

// A frame is believed only when it lies above the one before and inside the stack: memory that is surely
// mapped.
bool is_plausible(const Frame* frame, const Frame* below, std::uintptr_t top) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(frame);
    return frame > below && address % alignof(Frame) == 0 && address < top && top - address >= sizeof(Frame);
}

}  // namespace

[[gnu::noinline]] std::size_t capture_stack(std::span<void*> frames, unsigned skip) noexcept {
    const auto* frame = static_cast<const Frame*>(__builtin_frame_address(0));
    const std::uintptr_t top = stack_top();
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
