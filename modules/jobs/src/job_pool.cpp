#include "pool_state.hpp"

#include <ouro/base/align.hpp>
#include <ouro/jobs/job_pool.hpp>

#include <bit>
#include <memory>

namespace ouro {
namespace {

// Far more than anybody waits for, and no size of it overflows in 32 bits.
constexpr std::size_t kMostPostedJobs = std::size_t{1} << 20;

Expected<os::Reservation> take_memory(std::size_t bytes) noexcept {
    const std::size_t whole_pages = align_up(bytes, os::page_size());
    auto memory = os::Reservation::create({.bytes = whole_pages});
    if (!memory) return memory.status();
    const auto committed = memory->commit(0, whole_pages);
    if (!committed) return committed.status();
    return memory;
}

}  // namespace

Expected<JobPool> JobPool::create(const JobPoolOptions& wanted) noexcept {
    JobPoolOptions options = wanted;
    if (options.workers == kWorkersForCores) options.workers = std::min(os::core_count() - 1, kMaxWorkers);
    if (options.workers > kMaxWorkers || options.name == nullptr || options.max_posted_jobs == 0 ||
        options.max_posted_jobs > kMostPostedJobs)
        return Status::bad_argument;
    options.max_posted_jobs = std::bit_ceil(options.max_posted_jobs);
    const detail::PoolLayout layout = detail::PoolState::layout_for(options.workers, options.max_posted_jobs);
    auto memory = take_memory(layout.bytes);
    if (!memory) return memory.status();
    auto* place = reinterpret_cast<detail::PoolState*>(memory->block().data);
    detail::PoolState* state = std::construct_at(place, memory->block(), layout, options);
    if (const auto started = state->start_workers(options); !started) return started.status();
    return JobPool(state, options.workers, *std::move(memory));
}

JobPool& JobPool::operator=(JobPool&& other) noexcept {
    if (this != &other) {
        shut_down();
        state_ = std::exchange(other.state_, nullptr);
        workers_ = std::exchange(other.workers_, 0);
        memory_ = std::move(other.memory_);
    }
    return *this;
}

void JobPool::shut_down() noexcept {
    if (state_ == nullptr) return;
    if (state_->is_of_this_process()) {
        OURO_ASSERT(state_->current_participant() == 0, "a worker cannot end its own pool");
        state_->stop_workers();
        OURO_ASSERT(!state_->is_sharing_out(), "a pool goes when no loop is running on it");
    } else {
        state_->forget_workers();
    }
    state_ = nullptr;
}

unsigned JobPool::current_participant() const noexcept {
    return state_ != nullptr ? state_->current_participant() : 0;
}

JobPoolStats JobPool::stats() const noexcept {
    return state_ != nullptr ? state_->stats() : JobPoolStats{};
}

Status JobPool::check() const noexcept {
    return state_ != nullptr ? state_->check() : Status::ok;
}

void detail::run_loop(JobPool& pool, const LoopOrder& order) noexcept {
    PoolState::of(pool)->run_loop(order);
}

}  // namespace ouro
