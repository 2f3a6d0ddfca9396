#pragma once

#include <ouro/memory/detail/heap_core.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

// Memory that stayed free for a while goes back to the system: at once above a threshold is the heap's own
// doing, after a time is done here. There is no clock in a thread's fast path. Whoever misses its cache, or
// takes or returns whole units, comes by; every so often the one who comes looks how much stayed free since
// the last look, and returns it. Between looks only a load or two is done.
//
// With the setting `background` a thread does that too, so that a program that falls asleep gives memory back
// all the same, with what its threads keep. It sleeps itself, without a time limit, once there is nothing to
// do.
namespace ouro::process_heap {

enum class Errand : unsigned char { allocating, freeing };

// Whoever comes by. Requires: not from inside of a heap's own work.
void visit_idle_memory(detail::HeapCore& core, Errand errand) noexcept;

// Before a block gets a mapping of its own or a larger one, which cannot use free units: what lies free goes,
// so that the process does not need both. The pages that come back cost no more than those of the mapping.
void make_room_for_mapping(detail::HeapCore& core) noexcept;

// Forks that wait for a purge to end: those who want to begin one let them go first, else threads that purge
// again and again would keep a fork waiting for ever.
inline constinit std::atomic<std::uint32_t> g_waiting_forks = 0;

// From now on a thread may be started: the C library is ready.
void allow_background_thread() noexcept;
// In the child of a fork, which has no such thread: the next one who comes by starts it again.
void forget_background_thread() noexcept;

// What went back for having been idle, so far.
[[nodiscard]] std::size_t idle_returned_bytes() noexcept;

}  // namespace ouro::process_heap
