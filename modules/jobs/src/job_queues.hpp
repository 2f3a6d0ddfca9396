#pragma once

#include "post_queue.hpp"

#include <ouro/jobs/job_priority.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ouro::detail {

// Jobs that wait, by priority.
class JobQueues {
public:
    [[nodiscard]] static constexpr std::size_t places_for(std::size_t posted_jobs) noexcept {
        return kJobPriorities * posted_jobs;
    }
    // Requires: places_for() a power of two, all with zeros.
    explicit JobQueues(std::span<PostQueue::Place> places) noexcept;

    [[nodiscard]] PostQueue& of(JobPriority priority) noexcept {
        return queues_[static_cast<std::size_t>(priority)];
    }
    // The oldest of the highest priority that has any, or null. Of kNormalTurn takes of one worker, counted
    // by itself, one prefers a normal job, and of kLowTurn one a low one, so that these move on beside any
    // number of others.
    [[nodiscard]] Job* take(std::uint64_t turn) noexcept;

    // Guesses, true or false for a moment.
    [[nodiscard]] bool is_empty() const noexcept;
    [[nodiscard]] bool has_high() const noexcept { return !queues_[0].is_empty(); }
    [[nodiscard]] std::uint64_t put_count() const noexcept;
    [[nodiscard]] std::uint64_t count_waiting() const noexcept;
    // As PostQueue::is_sound.
    [[nodiscard]] bool is_sound() const noexcept;

    static constexpr std::uint64_t kNormalTurn = 8;
    static constexpr std::uint64_t kLowTurn = 64;

private:
    std::array<PostQueue, kJobPriorities> queues_;
};

}  // namespace ouro::detail
