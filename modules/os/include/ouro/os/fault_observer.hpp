#pragma once

#include <ouro/base/expected.hpp>

namespace ouro::os {

// An access that the system refused, about to end the process unless somebody else handles it.
struct AccessFault {
    const void* address = nullptr;
    bool is_write = false;
    // The instruction that faulted; null where the platform does not tell.
    const void* instruction = nullptr;
};

// Told of a fault before the handler that was there before ours. Runs in the signal handler, on the thread
// that faulted: it may write to standard error, and must not rely on anything the faulting code may have left
// half done. It cannot repair the fault; it can only explain it.
using FaultObserver = void (*)(const AccessFault& fault);

inline constexpr unsigned kMaxFaultObservers = 8;

// Tells the observer of every fault that no FaultTracker caused, for the rest of the process; adding it again
// does nothing. As with FaultTracker, faults go on to the handler that was there before. Fails with
// capacity_exhausted, not_supported (wasm32 cannot handle a trap) or as installing a signal handler does.
[[nodiscard]] Expected<void> add_fault_observer(FaultObserver observer) noexcept;

}  // namespace ouro::os
