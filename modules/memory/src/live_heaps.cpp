#include "fork_safety.hpp"

#include <ouro/memory/detail/live_heaps.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/os/thread_exit.hpp>

#include <atomic>

namespace ouro::detail {
namespace {

constinit std::atomic<bool> g_live_is_locked = false;

void lock_live() noexcept {
    while (g_live_is_locked.exchange(true, std::memory_order_acquire))
        os::yield_thread();
}
void unlock_live() noexcept {
    g_live_is_locked.store(false, std::memory_order_release);
}

// Held for moments, by creation and end of heaps and threads only.
class LiveLock {
public:
    LiveLock() noexcept { lock_live(); }
    ~LiveLock() { unlock_live(); }
    LiveLock(const LiveLock&) = delete;
    LiveLock& operator=(const LiveLock&) = delete;
};

constinit HeapCore* g_live_cores = nullptr;
// Zero until the first core is made.
constinit os::ThreadExitKey g_exit_key;

void leave_all_heaps(void*) noexcept {
    const std::uint64_t thread = os::this_thread_id();
    const LiveLock lock;
    for (HeapCore* core = g_live_cores; core != nullptr; core = core->next_live) {
        if (ThreadHeap* const heap = noted_heap(core->id())) {
            forget_heap(core->id());
            core->abandon_heap(*heap, thread);
        }
        if (is_note_lost(core->id()) || core->may_be_left()) core->abandon_heaps_of(thread);
    }
    // Other notes stay, and so do the marks of lost ones: they may be those of another copy of this library,
    // whose hook comes later.
}

Expected<void> make_exit_key() noexcept {
    if (g_exit_key.number != 0) return {};
    const auto key = os::make_thread_exit_key(leave_all_heaps);
    if (!key) return key.status();
    g_exit_key = *key;
    return {};
}

}  // namespace

Expected<ThreadHeap*> find_heap(HeapCore& core) noexcept {
    using Search = HeapCore::Search;
    const auto heap = core.heap_of_this_thread(is_note_lost(core.id()) ? Search::all : Search::none);
    if (!heap) return heap;
    // Any value but null makes the hook run.
    if (!os::set_thread_exit_value(g_exit_key, *heap)) core.expect_left_heaps();
    const std::size_t place = core.id() % kHeapNotes;
    if (t_heap_notes[place].heap != nullptr) t_lost_notes |= std::uint64_t{1} << place;
    t_heap_notes[place] = {core.id(), *heap};
    return heap;
}

Expected<void> add_live_core(HeapCore& core) noexcept {
    const Status watched = watch_forks().status();
    if (watched != Status::ok && watched != Status::not_supported) return watched;
    const LiveLock lock;
    const auto key = make_exit_key();
    if (!key) return key;
    core.next_live = g_live_cores;
    core.previous_live = nullptr;
    if (g_live_cores != nullptr) g_live_cores->previous_live = &core;
    g_live_cores = &core;
    return {};
}

void remove_live_core(HeapCore& core) noexcept {
    const LiveLock lock;
    (core.previous_live != nullptr ? core.previous_live->next_live : g_live_cores) = core.next_live;
    if (core.next_live != nullptr) core.next_live->previous_live = core.previous_live;
}

void reset_live_core(HeapCore& core) noexcept {
    const LiveLock lock;
    core.reset();
}

void hold_live_heaps_for_fork() noexcept {
    lock_live();
    for (HeapCore* core = g_live_cores; core != nullptr; core = core->next_live) {
        while (!core->try_begin_purge())
            os::yield_thread();
    }
}

void resume_live_heaps(ForkSide side) noexcept {
    const std::uint64_t thread = os::this_thread_id();
    for (HeapCore* core = g_live_cores; core != nullptr; core = core->next_live) {
        if (side == ForkSide::child) core->abandon_heaps_except(thread);
        core->end_purge();
    }
    unlock_live();
}

}  // namespace ouro::detail
