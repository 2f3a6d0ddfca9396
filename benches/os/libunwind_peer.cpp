#include "os/stack_peers.hpp"

#define UNW_LOCAL_ONLY
#include <libunwind.h>

namespace ouro::bench {

std::string libunwind_version() {
    return "libunwind " + std::to_string(UNW_VERSION_MAJOR) + "." + std::to_string(UNW_VERSION_MINOR);
}

std::size_t libunwind_backtrace(std::span<void*> frames) {
    const int count = unw_backtrace(frames.data(), static_cast<int>(frames.size()));
    return count > 0 ? static_cast<std::size_t>(count) : 0;
}

}  // namespace ouro::bench
