#pragma once

#include <ouro/jobs/job_pool.hpp>

#include <cstddef>
#include <type_traits>

namespace ouro::detail {

using LoopBody = void (*)(void* body, std::size_t begin, std::size_t end, unsigned participant) noexcept;

// What a caller of parallel_for wants done, without its type.
struct LoopOrder {
    LoopBody call = nullptr;
    void* body = nullptr;
    std::size_t count = 0;
    std::size_t grain = 1;
    bool is_even = false;
};

// Requires: a pool with workers, and more than one chunk.
void run_loop(JobPool& pool, const LoopOrder& order) noexcept;

[[nodiscard]] inline unsigned participant_of(unsigned participant) noexcept {
    return participant;
}
[[nodiscard]] inline unsigned participant_of(const JobPool& pool) noexcept {
    return pool.current_participant();
}

// The participant, or the pool that is asked for it where the body wants to know.
template <class Body, class Participant>
void call_body(Body& body, std::size_t begin, std::size_t end, const Participant& participant) noexcept {
    if constexpr (std::is_invocable_v<Body&, std::size_t, std::size_t, unsigned>) {
        body(begin, end, participant_of(participant));
    } else {
        body(begin, end);
    }
}

}  // namespace ouro::detail
