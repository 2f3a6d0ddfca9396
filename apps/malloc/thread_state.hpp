#pragma once

#include <ouro/memory/detail/thread_heap.hpp>
#include <ouro/observe/detail/sample_clock.hpp>

namespace ouro::process_heap {

// What a thread has of the heap: in one piece, so that the fast paths look it up once. Null before the
// thread's first call and after its end.
struct ThreadState {
    // For allocating; always null while allocations are sampled, for guards or for a profile.
    detail::ThreadHeap* heap = nullptr;
    // The same while they are counted for a profile and nothing else; null otherwise.
    detail::ThreadHeap* counted_heap = nullptr;
    // Counts what the thread allocates, for a profile.
    detail::SampleClock clock = {};
    // For freeing: sampled blocks lie elsewhere, so that all others are freed as ever.
    detail::ThreadHeap* free_heap = nullptr;
};
[[gnu::tls_model("initial-exec")]] inline constinit thread_local ThreadState t_state;

}  // namespace ouro::process_heap
