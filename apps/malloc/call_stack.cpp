#include "call_stack.hpp"

#include <ouro/os/stack_trace.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

// Where the library's own code lies; the linker knows.
extern "C" {
[[gnu::visibility("hidden")]] extern const char __ehdr_start[];
[[gnu::visibility("hidden")]] extern const char etext[];
}

namespace ouro::process_heap {
namespace {

bool is_own(const void* address) noexcept {
    const auto number = reinterpret_cast<std::uintptr_t>(address);
    return number >= reinterpret_cast<std::uintptr_t>(__ehdr_start) &&
           number < reinterpret_cast<std::uintptr_t>(etext);
}

}  // namespace

std::size_t capture_callers(std::span<void*> frames) noexcept {
    // More than the library itself ever has on the way from malloc to here.
    constexpr std::size_t kMostOwn = 16;
    constexpr std::size_t kMost = kMostCallers + kMostOwn;
    std::array<void*, kMost> all;
    const std::size_t wanted = std::min(frames.size(), kMostCallers) + kMostOwn;
    const std::size_t count = os::capture_callers(std::span(all).first(wanted), nullptr);
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(count);
    const auto callers = std::find_if_not(all.begin(), end, is_own);
    const auto most = static_cast<std::ptrdiff_t>(frames.size());
    const auto last = std::copy_n(callers, std::min(end - callers, most), frames.begin());
    return static_cast<std::size_t>(last - frames.begin());
}

}  // namespace ouro::process_heap
