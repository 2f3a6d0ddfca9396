#include <ouro/observe/detail/handler_table.hpp>

#include <algorithm>
#include <tuple>

namespace ouro::detail {

HandlerTable::Place* HandlerTable::find(const PressureHandler* handler) noexcept {
    const auto is_it = [&](const Place& place) noexcept { return place.handler == handler; };
    const auto place = std::find_if(places_.begin(), places_.end(), is_it);
    return place == places_.end() ? nullptr : &*place;
}

Expected<void> HandlerTable::add(PressureHandler& handler, int priority, std::string_view name) noexcept {
    const WordLockScope scope(lock_);
    if (find(&handler) != nullptr) return Status::bad_argument;
    Place* const place = find(nullptr);
    if (place == nullptr) return Status::capacity_exhausted;
    *place = {.handler = &handler, .priority = priority, .number = ++added_};
    std::copy_n(name.data(), std::min(name.size(), kHandlerNameBytes), place->name.data());
    return {};
}

HandlerRemoval HandlerTable::remove(PressureHandler& handler) noexcept {
    const WordLockScope scope(lock_);
    Place* const place = find(&handler);
    if (place != nullptr) *place = {};
    return {.was_there = place != nullptr, .is_running = running_ == &handler};
}

bool HandlerTable::begin_next(HandlerCursor& cursor, PressureLevel level, std::uint64_t now_ns,
                              HandlerCall& call) noexcept {
    const auto order = [](const auto& place) noexcept { return std::tie(place.priority, place.number); };
    const WordLockScope scope(lock_);
    const Place* first = nullptr;
    for (const Place& place : places_) {
        if (place.handler == nullptr || order(place) <= order(cursor)) continue;
        if (place.pause.holds(now_ns, level)) continue;
        if (first == nullptr || order(place) < order(*first)) first = &place;
    }
    if (first == nullptr) return false;
    cursor = {first->priority, first->number};
    call = {first->handler, first->number, first->name};
    running_ = first->handler;
    return true;
}

void HandlerTable::end_call(const HandlerCall& call, bool was_useful, PressureLevel level,
                            std::uint64_t now_ns, const PressureOptions& options) noexcept {
    const WordLockScope scope(lock_);
    running_ = nullptr;
    Place* const place = find(call.handler);
    // Gone meanwhile, or another one at the same address.
    if (place == nullptr || place->number != call.number) return;
    if (was_useful) {
        place->pause.reset();
    } else {
        place->pause.begin(now_ns, level, options.first_pause_ns, options.longest_pause_ns);
    }
}

std::uint64_t HandlerTable::added() const noexcept {
    const WordLockScope scope(lock_);
    return added_;
}

}  // namespace ouro::detail
