#include "fork_safety.hpp"

#include <ouro/memory/detail/word_lock.hpp>
#include <ouro/memory/observer.hpp>
#include <ouro/os/thread.hpp>

#include <array>

namespace ouro {
namespace {

// A place for an observer. Whoever raises an event first counts itself in, then looks again whether the
// observer is still there; whoever removes it first takes it away, then waits until nobody is counted. Both
// orders are sequentially consistent, so that one of the two sees the other.
struct Place {
    std::atomic<MemoryObserver*> observer;
    std::atomic<std::uint32_t> callers;
    // Somebody waits for the last callers of a removed observer: the place takes no new one, whose callers
    // would keep the wait from ending. Guarded by the lock.
    bool leaving;
};

constinit std::array<Place, kMaxObservers> places{};
constinit detail::WordLock changing;

// Whose callback this thread is inside, if any.
[[gnu::tls_model("initial-exec")]] constinit thread_local Place* calling = nullptr;

Place* find_place(const MemoryObserver* observer) noexcept {
    for (Place& place : places) {
        if (place.observer.load(std::memory_order_relaxed) == observer) return &place;
    }
    return nullptr;
}

Place* find_free_place() noexcept {
    for (Place& place : places) {
        const bool empty = place.observer.load(std::memory_order_relaxed) == nullptr;
        if (empty && !place.leaving && place.callers.load() == 0) return &place;
    }
    return nullptr;
}

template <class Call, class Event>
void call_observer(Place& place, Call call, const Event& event) noexcept {
    // Empty places are not counted in, so that a remover's wait ends under a storm of events.
    if (place.observer.load(std::memory_order_relaxed) == nullptr) return;
    place.callers.fetch_add(1);
    calling = &place;
    if (MemoryObserver* observer = place.observer.load()) (observer->*call)(event);
    calling = nullptr;
    place.callers.fetch_sub(1);
}

template <class Call, class Event>
void call_all(Call call, const Event& event) noexcept {
    if (calling != nullptr) return;
    for (Place& place : places)
        call_observer(place, call, event);
}

}  // namespace

constinit std::atomic<std::uint32_t> detail::observer_count{0};

void detail::hold_observers_for_fork() noexcept {
    changing.lock();
}

void detail::resume_observers(ForkSide side) noexcept {
    for (Place& place : places) {
        if (side == ForkSide::parent) break;
        place.callers.store(&place == calling ? 1 : 0);
        place.leaving = false;
    }
    changing.unlock();
}

Expected<void> add_observer(MemoryObserver& observer) noexcept {
    // Without it, events are told all the same.
    static_cast<void>(detail::watch_forks());
    const detail::WordLockScope scope(changing);
    if (find_place(&observer) != nullptr) return Status::bad_argument;
    Place* place = find_free_place();
    if (place == nullptr) return Status::capacity_exhausted;
    place->observer.store(&observer);
    detail::observer_count.fetch_add(1, std::memory_order_relaxed);
    return {};
}

Expected<void> remove_observer(MemoryObserver& observer) noexcept {
    Place* place = nullptr;
    {
        const detail::WordLockScope scope(changing);
        place = find_place(&observer);
        if (place == nullptr) return Status::not_found;
        place->observer.store(nullptr);
        detail::observer_count.fetch_sub(1, std::memory_order_relaxed);
        place->leaving = calling == nullptr;
    }
    if (calling != nullptr) return {};
    while (place->callers.load() != 0)
        os::yield_thread();
    const detail::WordLockScope scope(changing);
    place->leaving = false;
    return {};
}

void detail::raise_to_all(EventCall call, const MemoryEvent& event) noexcept {
    call_all(call, event);
}

void detail::raise_to_all(BlockCall call, const BlockInfo& block) noexcept {
    call_all(call, block);
}

}  // namespace ouro
