#pragma once

#include <ouro/base/expected.hpp>

// A full memory fence in every thread of the process, ordered by one of them. It lets a frequent side go
// without fences of its own (a compiler barrier is enough there) and makes the rare side pay for both.
namespace ouro::os {

// Whether process_barrier() works here. Also makes the first one cheap, so ask once at the start and keep the
// answer; it costs some system calls.
[[nodiscard]] bool process_barrier_available() noexcept;

// When it returns, every thread that ran in the meantime has executed a full fence: what it stored before is
// visible to the caller, and what it loads afterwards is not older than what the caller stored before. Costs
// microseconds, as cores are interrupted. Works in the child of a fork as well. Fails with not_supported.
Expected<void> process_barrier() noexcept;

}  // namespace ouro::os
