#pragma once

#include <ouro/os/fault_observer.hpp>

namespace ouro::os {

// In the signal handler: tells every observer. A fault inside an observer is not told again, so that it ends
// the process instead of going round.
void tell_fault_observers(const AccessFault& fault) noexcept;

}  // namespace ouro::os
