#pragma once

#include "harness/session.hpp"

#include <cstddef>
#include <cstdint>

namespace ouro::bench {

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;
inline constexpr std::size_t kPage = 4 * kKiB;

// The parts of the suite, in the order of the table.
void measure_calls(Session& session);
void measure_faults(Session& session);
void measure_maps(Session& session);
void measure_kernel_tracking(Session& session);
void measure_scans(Session& session);
void measure_fault_tracking(Session& session);
void measure_copies(Session& session);
void measure_threads(Session& session);
void measure_stacks(Session& session);

// What only one processor has; src files per processor are chosen by CMake.
// Copies with stores that pass the caches by; plain stores where there are none. Others see the bytes after
// finish_streaming. Requires: both 16-byte aligned, a multiple of 64 bytes.
void copy_streaming(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;
void finish_streaming() noexcept;
// The processor's own counter, the cheapest clock there is; our monotonic clock where there is none.
[[nodiscard]] std::uint64_t read_cycle_counter() noexcept;
// The same after all that comes before it, and before all that follows: what lies between two readings is
// what was timed, and a neighbour's wait for memory is not. Costs a few times as much.
[[nodiscard]] std::uint64_t read_cycle_counter_in_order() noexcept;

}  // namespace ouro::bench
