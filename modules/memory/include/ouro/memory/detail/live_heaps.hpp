#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/memory/detail/heap_core.hpp>

#include <cstddef>
#include <cstdint>

// How a thread finds its part of a heap, and how heaps learn that a thread has ended.
namespace ouro::detail {

// A thread's notes of the heaps it used last, one a place; a place is chosen by the core's id. What a note
// says is true as long as the id is the one looked for: ids are never used again.
struct HeapNote {
    std::uint64_t core_id;
    ThreadHeap* heap;
};

// A power of two whose mask still fits a byte of an instruction. A kilobyte a thread, of which only the lines
// of heaps that it uses are touched.
inline constexpr std::size_t kHeapNotes = 64;
inline constinit thread_local HeapNote t_heap_notes[kHeapNotes] = {};
// The places where a note had to give way to another: only of heaps that belong there, and are not noted, the
// thread may have a part all the same.
inline constinit thread_local std::uint64_t t_lost_notes = 0;
static_assert(kHeapNotes <= 64);

[[nodiscard]] inline bool is_note_lost(std::uint64_t core_id) noexcept {
    return (t_lost_notes >> core_id % kHeapNotes) % 2 != 0;
}

[[nodiscard]] inline ThreadHeap* noted_heap(std::uint64_t core_id) noexcept {
    const HeapNote& note = t_heap_notes[core_id % kHeapNotes];
    return note.core_id == core_id ? note.heap : nullptr;
}

// After the thread had to leave its heap.
inline void forget_heap(std::uint64_t core_id) noexcept {
    t_heap_notes[core_id % kHeapNotes] = {};
}

// Finds or makes the thread's heap and notes it. Fails as HeapCore::heap_of_this_thread.
[[nodiscard]] Expected<ThreadHeap*> find_heap(HeapCore& core) noexcept;

// A core is among the live ones from its creation to its end, so that threads that end know whom to tell.
// Fails where threads or forks cannot be followed.
Expected<void> add_live_core(HeapCore& core) noexcept;
void remove_live_core(HeapCore& core) noexcept;
// As HeapCore::reset, also while threads end that have used the core before.
void reset_live_core(HeapCore& core) noexcept;

}  // namespace ouro::detail
