#pragma once

#include <ouro/base/status.hpp>
#include <ouro/os/fault_injection.hpp>

#include <cerrno>
#include <cstddef>
#include <utility>

// The one door to the system: every call that can fail goes through attempt(), where a test can make it fail.
namespace ouro::os {

// Runs the call, or fails as it would with errno set. `failure` is what the call returns when it fails.
template <class Result, class Call>
[[nodiscard]] Result attempt(OsCall id, Result failure, Call&& call) noexcept {
    if constexpr (kFaultInjection) {
        if (const int error = fault_injection::count_use(id); error != 0) {
            errno = error;
            return failure;
        }
    }
    return std::forward<Call>(call)();
}

// The same for calls that return -1.
template <class Call>
[[nodiscard]] auto attempt(OsCall id, Call&& call) noexcept {
    return attempt(id, static_cast<decltype(call())>(-1), std::forward<Call>(call));
}

// For calls that return their error number: -1 with errno set, or 0 with errno as it was.
[[nodiscard]] inline int with_errno(int error) noexcept {
    if (error == 0) return 0;
    errno = error;
    return -1;
}

// The status for an error number whose meaning does not depend on the call.
[[nodiscard]] constexpr Status status_of_error(int error) noexcept {
    switch (error) {
        case ENOMEM:
            return Status::out_of_memory;
        case EPERM:
        case EACCES:
            return Status::permission_denied;
        case EMFILE:
        case ENFILE:
            return Status::too_many_files;
        case ENOSYS:
        case EOPNOTSUPP:
        case ENOTTY:
            return Status::not_supported;
        case ENOENT:
        case ENODEV:
            return Status::not_found;
        case EBUSY:
        case EAGAIN:
            return Status::busy;
        case EEXIST:
            return Status::address_in_use;
        case EFBIG:
        case EOVERFLOW:
            return Status::size_overflow;
        case EFAULT:
            return Status::not_mapped;
        case EIO:
            return Status::io_error;
        default:
            return Status::os_error;
    }
}

}  // namespace ouro::os
