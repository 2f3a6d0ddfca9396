#pragma once

#include "chunk_range.hpp"

#include <ouro/base/expected.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ouro {
class Job;
}  // namespace ouro

namespace ouro::detail {

// Jobs that wait, oldest first: a ring of places with a turn each, for any number of threads at both ends. A
// place whose turn equals the position is free to be filled, one whose turn is the position after it is full.
// Jobs are not looked at here, so that one that is taken, run and gone can hurt nobody who comes late.
class PostQueue {
public:
    struct alignas(2 * sizeof(std::uint64_t)) Place {
        std::atomic<std::uint64_t> turn{0};
        // Null when somebody took the job out of its turn.
        std::atomic<Job*> job{nullptr};
    };

    // Requires: a power of two of places, all with zeros.
    explicit PostQueue(std::span<Place> places) noexcept;

    // Reserves the next place, which is to be filled at once, or null when all are taken.
    [[nodiscard]] Place* begin_put() noexcept;
    static void finish_put(Place& place, Job& job) noexcept;
    // Null when there is none.
    [[nodiscard]] Job* take() noexcept;
    // True when the job was still there, and is now the caller's.
    [[nodiscard]] static bool take_out(std::atomic<Job*>& place, Job& job) noexcept;
    // Frees the places at the front whose jobs were taken out.
    void drop_gone() noexcept;

    // A guess, true or false for a moment. A place that was reserved counts, although nobody can take its job
    // before it is filled.
    [[nodiscard]] bool is_empty() const noexcept;
    [[nodiscard]] std::uint64_t put_count() const noexcept { return put_.load(std::memory_order_relaxed); }
    // How many jobs are in it; a guess while somebody puts or takes any.
    [[nodiscard]] std::uint64_t count_waiting() const noexcept;
    // The same. One that is not full may have no free place all the same, while somebody is about to empty
    // it.
    [[nodiscard]] bool is_full() const noexcept {
        const std::uint64_t taken = taken_.load(std::memory_order_relaxed);
        return put_.load(std::memory_order_relaxed) >= taken + places_.size();
    }
    // Requires: there is no job in it, and nobody puts any. Others may still be emptying places.
    [[nodiscard]] bool is_sound() const noexcept;

private:
    // How many full places from there on have lost their jobs.
    [[nodiscard]] std::uint64_t count_gone(std::uint64_t position) const noexcept;
    [[nodiscard]] bool is_free_or_being_emptied(std::uint64_t next_position) const noexcept;
    [[nodiscard]] Place& at(std::uint64_t position) const noexcept {
        return places_[static_cast<std::size_t>(position) & (places_.size() - 1)];
    }

    std::span<Place> places_;
    alignas(kCacheLine) std::atomic<std::uint64_t> put_{0};
    alignas(kCacheLine) std::atomic<std::uint64_t> taken_{0};
};

}  // namespace ouro::detail
