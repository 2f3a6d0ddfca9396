#include "system_calls.hpp"

#include <ouro/os/process_barrier.hpp>

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ouro::os {
namespace {

long call_membarrier(int command) noexcept {
    return attempt(OsCall::process_barrier, [=] { return ::syscall(SYS_membarrier, command, 0, 0); });
}

bool register_process() noexcept {
    return call_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}

}  // namespace

bool process_barrier_available() noexcept {
    return register_process() && process_barrier().has_value();
}

// The kernel remembers the registration, so nothing has to be kept here that a fork or an exec could make
// wrong.
Expected<void> process_barrier() noexcept {
    if (call_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return {};
    const bool is_unregistered = errno == EPERM;
    if (is_unregistered && register_process() && call_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0)
        return {};
    return Status::not_supported;
}

}  // namespace ouro::os
