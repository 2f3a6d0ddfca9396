#pragma once

#include <ouro/os/fault_injection.hpp>

#include <utility>

// The one door to the host: every call that can fail goes through attempt(), where a test can make it fail.
// There is no errno here; a host says no, and in which way is the caller's to know.
namespace ouro::os {

// Runs the call, which returns whether it succeeded, or fails instead of it.
template <class Call>
[[nodiscard]] bool attempt(OsCall id, Call&& call) noexcept {
    if constexpr (kFaultInjection) {
        if (fault_injection::count_use(id) != 0) return false;
    }
    return std::forward<Call>(call)();
}

}  // namespace ouro::os
