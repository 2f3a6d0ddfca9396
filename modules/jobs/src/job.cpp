#include "pool_state.hpp"

#include <ouro/os/futex.hpp>
#include <ouro/os/give_way.hpp>

#include <utility>

// The way of a posted job.
namespace ouro {
namespace detail {
namespace {

// What this thread is running now, the innermost.
[[gnu::tls_model("initial-exec")]] constinit thread_local const Job* t_running = nullptr;

}  // namespace

void PoolState::run_here(Job& job) noexcept {
    const Job* outer = std::exchange(t_running, &job);
    job.entry_(job);
    t_running = outer;
    finish(job);
}

void PoolState::finish(Job& job) noexcept {
    const std::atomic<std::uint32_t>& state = job.state_;
    const std::uint32_t before = job.state_.exchange(Job::kDone, std::memory_order_acq_rel);
    // The job may be gone by now and the word with it; waking nobody at an old address is harmless.
    if (before == Job::kAwaited) os::wake_all(state);
}

PostQueue::Place* PoolState::claim_place(PostQueue& queue) noexcept {
    // Whoever is about to empty the next place may have lost its core: as many pauses, then as many naps.
    constexpr unsigned kPauses = 64;
    os::GiveWay way(kPauses);
    PostQueue::Place* place = queue.begin_put();
    for (unsigned tries = 0; place == nullptr && tries < 2 * kPauses; ++tries) {
        queue.drop_gone();
        if (queue.is_full()) return nullptr;
        if (tries != 0) way.once();
        place = queue.begin_put();
    }
    return place;
}

Status PoolState::post(Job& job, JobPriority priority) noexcept {
    const std::uint32_t before = job.state_.load(std::memory_order_acquire);
    if (before != Job::kNeverPosted && before != Job::kDone) return Status::busy;
    // Nobody else changes a job that is not pending.
    job.state_.store(Job::kPosting, std::memory_order_relaxed);
    job.pool_ = this;
    if (workers_.empty()) {
        job.place_ = nullptr;
        job.state_.store(Job::kPending, std::memory_order_release);
        jobs_run_at_once_.add_shared(1);
        run_here(job);
        return Status::ok;
    }
    PostQueue::Place* place = claim_place(queues_.of(priority));
    if (place == nullptr) {
        job.state_.store(before, std::memory_order_release);
        return Status::capacity_exhausted;
    }
    job.place_ = &place->job;
    job.state_.store(Job::kPending, std::memory_order_release);
    PostQueue::finish_put(*place, job);
    if (parking_.has_idle()) parking_.tell(1);
    return Status::ok;
}

void PoolState::wait_for(Job& job) noexcept {
    OURO_ASSERT(t_running != &job, "a job cannot wait for itself");
    std::uint32_t state = job.state_.load(std::memory_order_acquire);
    if (state == Job::kPending && job.place_ != nullptr && PostQueue::take_out(*job.place_, job)) {
        run_here(job);
        return;
    }
    const auto is_over = [&job]() noexcept { return !job.is_pending(); };
    if (Patience(kWaitPauses).spin_until(is_over)) return;
    for (;;) {
        state = job.state_.load(std::memory_order_acquire);
        if (state == Job::kNeverPosted || state == Job::kDone) return;
        if (state == Job::kPosting) {
            os::nap();
        } else if (state == Job::kAwaited ||
                   job.state_.compare_exchange_weak(state, Job::kAwaited, std::memory_order_acquire)) {
            os::wait_on(job.state_, Job::kAwaited);
        }
    }
}

}  // namespace detail

Expected<void> post(JobPool& pool, Job& job, JobPriority priority) noexcept {
    detail::PoolState* state = detail::PoolState::of(pool);
    OURO_ASSERT(state != nullptr, "a pool that was moved from takes no jobs");
    return state->post(job, priority);
}

void wait(Job& job) noexcept {
    detail::PoolState::wait_for(job);
}

}  // namespace ouro
