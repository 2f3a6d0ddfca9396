#include "job_queues.hpp"

#include <algorithm>

namespace ouro::detail {
namespace {

constexpr JobPriority preferred_in(std::uint64_t turn) noexcept {
    if (turn % JobQueues::kLowTurn == JobQueues::kLowTurn - 1) return JobPriority::low;
    if (turn % JobQueues::kNormalTurn == JobQueues::kNormalTurn - 1) return JobPriority::normal;
    return JobPriority::high;
}

}  // namespace

JobQueues::JobQueues(std::span<PostQueue::Place> places) noexcept
    : queues_{PostQueue(places.first(places.size() / kJobPriorities)),
              PostQueue(places.subspan(places.size() / kJobPriorities, places.size() / kJobPriorities)),
              PostQueue(places.last(places.size() / kJobPriorities))} {}

Job* JobQueues::take(std::uint64_t turn) noexcept {
    if (Job* job = of(preferred_in(turn)).take(); job != nullptr) return job;
    for (PostQueue& queue : queues_) {
        if (Job* job = queue.take(); job != nullptr) return job;
    }
    return nullptr;
}

bool JobQueues::is_empty() const noexcept {
    return std::ranges::all_of(queues_, [](const PostQueue& queue) { return queue.is_empty(); });
}

std::uint64_t JobQueues::put_count() const noexcept {
    std::uint64_t count = 0;
    for (const PostQueue& queue : queues_)
        count += queue.put_count();
    return count;
}

std::uint64_t JobQueues::count_waiting() const noexcept {
    std::uint64_t count = 0;
    for (const PostQueue& queue : queues_)
        count += queue.count_waiting();
    return count;
}

bool JobQueues::is_sound() const noexcept {
    return std::ranges::all_of(queues_, [](const PostQueue& queue) { return queue.is_sound(); });
}

}  // namespace ouro::detail
