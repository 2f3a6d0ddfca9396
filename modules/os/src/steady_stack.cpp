#include <ouro/os/steady_stack.hpp>

#include <cstring>

namespace ouro::os {

SteadyStack::SteadyStack(std::size_t room_bytes) noexcept
    : place_(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - room_bytes) {}

// Not watched by AddressSanitizer, which would put its own bytes around what is skipped and cleared. The
// frame of this function lies where that of the next one called will be.
[[gnu::no_sanitize_address]] void SteadyStack::clear_below() noexcept {
    void* below = __builtin_alloca(kClearedBytes);
    std::memset(below, 0, kClearedBytes);
    // Nobody reads it here, so the compiler would leave it out.
    asm volatile("" : : "r"(below) : "memory");
}

[[gnu::no_sanitize_address]] Status SteadyStack::call_erased(void (*function)(void*), void* plain) const {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    if (here < place_ || here - place_ > kMostSkipped) return Status::out_of_range;
    // The frame of this function is of one size, so that what is below the skipped bytes is always there.
    auto* skipped = static_cast<volatile char*>(__builtin_alloca(here - place_ + 1));
    *skipped = 0;
    clear_below();
    function(plain);
    return Status::ok;
}

}  // namespace ouro::os
