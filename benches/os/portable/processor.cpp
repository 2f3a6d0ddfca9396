#include "os/os_suite.hpp"

#include <ouro/os/clock.hpp>

#include <cstring>

namespace ouro::bench {

void copy_streaming(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    std::memcpy(to, from, bytes);
}

void finish_streaming() noexcept {}

std::uint64_t read_cycle_counter() noexcept {
    return os::monotonic_ns();
}

std::uint64_t read_cycle_counter_in_order() noexcept {
    return os::monotonic_ns();
}

}  // namespace ouro::bench
