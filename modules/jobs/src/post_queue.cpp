#include "post_queue.hpp"

#include <ouro/base/assert.hpp>

#include <bit>

namespace ouro::detail {

PostQueue::PostQueue(std::span<Place> places) noexcept : places_(places) {
    OURO_DEBUG_ASSERT(std::has_single_bit(places.size()), "positions are wrapped around by a mask");
    for (std::size_t i = 0; i < places.size(); ++i)
        places[i].turn.store(i, std::memory_order_relaxed);
}

PostQueue::Place* PostQueue::begin_put() noexcept {
    std::uint64_t position = put_.load(std::memory_order_relaxed);
    for (;;) {
        Place& place = at(position);
        const std::uint64_t turn = place.turn.load(std::memory_order_acquire);
        if (turn == position) {
            // In one order with the count of the idle, see Parking.
            if (put_.compare_exchange_weak(position, position + 1, std::memory_order_seq_cst,
                                           std::memory_order_relaxed))
                return &place;
        } else if (turn < position) {
            // Still full, or just being emptied, from the round before.
            return nullptr;
        } else {
            position = put_.load(std::memory_order_relaxed);
        }
    }
}

void PostQueue::finish_put(Place& place, Job& job) noexcept {
    place.job.store(&job, std::memory_order_release);
    // Nobody else changes it before it says full.
    place.turn.store(place.turn.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

Job* PostQueue::take() noexcept {
    std::uint64_t position = taken_.load(std::memory_order_relaxed);
    for (;;) {
        Place& place = at(position);
        const std::uint64_t turn = place.turn.load(std::memory_order_acquire);
        if (turn <= position) return nullptr;
        if (turn != position + 1) {
            position = taken_.load(std::memory_order_relaxed);
            continue;
        }
        if (!taken_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed)) continue;
        Job* job = place.job.exchange(nullptr, std::memory_order_acq_rel);
        place.turn.store(position + places_.size(), std::memory_order_release);
        if (job != nullptr) return job;
        ++position;
    }
}

bool PostQueue::take_out(std::atomic<Job*>& place, Job& job) noexcept {
    Job* expected = &job;
    return place.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel,
                                         std::memory_order_relaxed);
}

std::uint64_t PostQueue::count_gone(std::uint64_t position) const noexcept {
    std::uint64_t count = 0;
    // A job that is gone from a full place does not come back before the place is free.
    while (count < places_.size() &&
           at(position + count).turn.load(std::memory_order_acquire) == position + count + 1 &&
           at(position + count).job.load(std::memory_order_relaxed) == nullptr)
        ++count;
    return count;
}

void PostQueue::drop_gone() noexcept {
    std::uint64_t position = taken_.load(std::memory_order_relaxed);
    std::uint64_t count = count_gone(position);
    while (count != 0) {
        if (taken_.compare_exchange_weak(position, position + count, std::memory_order_relaxed)) {
            for (const std::uint64_t end = position + count; position != end; ++position)
                at(position).turn.store(position + places_.size(), std::memory_order_release);
        }
        count = count_gone(position);
    }
}

std::uint64_t PostQueue::count_waiting() const noexcept {
    std::uint64_t count = 0;
    const std::uint64_t end = put_.load(std::memory_order_acquire);
    for (std::uint64_t position = taken_.load(std::memory_order_acquire); position < end; ++position)
        count += at(position).job.load(std::memory_order_acquire) != nullptr ? 1U : 0U;
    return count;
}

bool PostQueue::is_empty() const noexcept {
    const std::uint64_t taken = taken_.load(std::memory_order_relaxed);
    return put_.load(std::memory_order_seq_cst) <= taken;
}

bool PostQueue::is_free_or_being_emptied(std::uint64_t next_position) const noexcept {
    const Place& place = at(next_position);
    const std::uint64_t turn = place.turn.load(std::memory_order_acquire);
    if (turn != next_position) return turn + places_.size() == next_position + 1;
    return place.job.load(std::memory_order_relaxed) == nullptr;
}

bool PostQueue::is_sound() const noexcept {
    for (;;) {
        const std::uint64_t put = put_.load(std::memory_order_acquire);
        const std::uint64_t taken = taken_.load(std::memory_order_acquire);
        if (taken > put || put - taken > places_.size()) return false;
        bool is_sound = true;
        for (std::uint64_t i = taken; i < put; ++i)
            is_sound = is_sound && at(i).turn.load(std::memory_order_acquire) == i + 1;
        for (std::uint64_t i = put; i < taken + places_.size(); ++i)
            is_sound = is_sound && is_free_or_being_emptied(i);
        // What was seen of places that were passed meanwhile says nothing.
        if (is_sound || taken_.load(std::memory_order_acquire) == taken) return is_sound;
    }
}

}  // namespace ouro::detail
