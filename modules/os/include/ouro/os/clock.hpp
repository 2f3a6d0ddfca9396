#pragma once

#include <cstdint>

namespace ouro::os {

// Nanoseconds since some fixed moment; never goes backwards, unaffected by changes of the calendar time. For
// measuring and for time-outs, never for simulation state.
[[nodiscard]] std::uint64_t monotonic_ns() noexcept;

}  // namespace ouro::os
