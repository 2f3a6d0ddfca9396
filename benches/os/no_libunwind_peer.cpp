#include "os/stack_peers.hpp"

namespace ouro::bench {

std::string libunwind_version() {
    return {};
}

std::size_t libunwind_backtrace(std::span<void*>) {
    return 0;
}

}  // namespace ouro::bench
