#pragma once

#include <ouro/base/status.hpp>

namespace ouro::os {

// Sees to it that run_thread_exit_hooks() is called when the calling thread ends. Called by the table when a
// thread's first value is set, and once more for each round of hooks. Implemented by the backend.
[[nodiscard]] Status arm_thread_exit() noexcept;

// Calls the hooks of the values that the thread has set, once each. The backend calls it again when that
// armed the thread anew; the table sees to it that this comes to an end.
void run_thread_exit_hooks() noexcept;

// Whether a value was set since the last round.
[[nodiscard]] bool is_thread_exit_armed() noexcept;

}  // namespace ouro::os
