#include <ouro/os/process_barrier.hpp>

namespace ouro::os {

bool process_barrier_available() noexcept {
    return false;
}

Expected<void> process_barrier() noexcept {
    return Status::not_supported;
}

}  // namespace ouro::os
