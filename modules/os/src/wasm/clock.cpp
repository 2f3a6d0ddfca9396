#include "host.hpp"

#include <ouro/os/clock.hpp>

namespace ouro::os {

std::uint64_t monotonic_ns() noexcept {
    return static_cast<std::uint64_t>(wasm_host::now_ns());
}

}  // namespace ouro::os
