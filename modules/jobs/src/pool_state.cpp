#include "pool_state.hpp"

#include <ouro/base/align.hpp>
#include <ouro/base/bits.hpp>
#include <ouro/os/process_memory.hpp>

#include <bit>
#include <memory>

// A pool's memory, its numbers, and the loops of its callers.
namespace ouro::detail {
namespace {

// Wakes grow like a tree: each thread that has found work wakes so many others.
constexpr unsigned kWakesEach = 2;

template <class T>
std::span<T> array_at(MemoryBlock block, std::size_t offset, std::size_t count) noexcept {
    return {reinterpret_cast<T*>(block.data + offset), count};
}

}  // namespace

PoolLayout PoolState::layout_for(unsigned workers, std::size_t posted_jobs) noexcept {
    PoolLayout layout;
    layout.workers = align_up(sizeof(PoolState), alignof(Worker));
    layout.loops = layout.workers + workers * sizeof(Worker);
    layout.shares = layout.loops + kMaxLoops * sizeof(Loop);
    layout.places = layout.shares + kMaxLoops * (workers + 1) * sizeof(ChunkRange);
    layout.bytes = layout.places + posted_jobs * sizeof(PostQueue::Place);
    return layout;
}

PoolState::PoolState(MemoryBlock block, const PoolLayout& layout, const JobPoolOptions& options) noexcept
    : workers_(array_at<Worker>(block, layout.workers, options.workers)),
      loops_(array_at<Loop>(block, layout.loops, kMaxLoops)),
      queue_([&] {
          const auto places =
              array_at<PostQueue::Place>(block, layout.places, std::bit_ceil(options.max_posted_jobs));
          std::uninitialized_default_construct(places.begin(), places.end());
          return places;
      }()),
      process_(os::process_id()),
      spin_pauses_(Patience::longest(options.spin_pauses, options.workers + 1)) {
    const std::size_t participants = workers_.size() + 1;
    const auto shares = array_at<ChunkRange>(block, layout.shares, kMaxLoops * participants);
    std::uninitialized_default_construct(shares.begin(), shares.end());
    for (std::size_t i = 0; i < loops_.size(); ++i)
        std::construct_at(&loops_[i], shares.subspan(i * participants, participants), spin_pauses_);
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        Worker& worker = *std::construct_at(&workers_[i]);
        worker.pool = this;
        worker.participant = static_cast<unsigned>(i + 1);
        worker.patience = Patience(spin_pauses_);
    }
}

Loop* PoolState::claim_loop() noexcept {
    std::uint32_t used = used_loops_.load(std::memory_order_relaxed);
    for (;;) {
        const std::uint32_t free = ~used & low_mask<std::uint32_t>(kMaxLoops);
        if (free == 0) return nullptr;
        const auto index = static_cast<unsigned>(std::countr_zero(free));
        if (used_loops_.compare_exchange_weak(used, used | std::uint32_t{1} << index,
                                              std::memory_order_acquire, std::memory_order_relaxed))
            return &loops_[index];
    }
}

void PoolState::release_loop(const Loop& loop) noexcept {
    const auto index = static_cast<unsigned>(&loop - loops_.data());
    used_loops_.fetch_and(~(std::uint32_t{1} << index), std::memory_order_release);
}

void PoolState::run_loop(const LoopOrder& order) noexcept {
    const unsigned participant = current_participant();
    Loop* loop = claim_loop();
    if (loop == nullptr) {
        crowded_out_loops_.add_shared(1);
        order.call(order.body, 0, order.count, participant);
        return;
    }
    loop->open(order);
    const bool has_two_chunks = order.count - order.grain <= order.grain;
    parking_.tell(has_two_chunks ? 1 : kWakesEach);
    const LoopWork work = loop->work(participant);
    loop->close_and_wait();
    loop->count(work);
    release_loop(*loop);
}

bool PoolState::has_more_work() const noexcept {
    if (!queue_.is_empty()) return true;
    bool found = false;
    for_each_bit(used_loops_.load(std::memory_order_relaxed),
                 [&](unsigned index) { found = found || loops_[index].has_chunks(); });
    return found;
}

void PoolState::pass_on() noexcept {
    if (parking_.sleeper_count() != 0 && has_more_work()) parking_.wake(kWakesEach);
}

JobPoolStats PoolState::stats() const noexcept {
    JobPoolStats stats;
    for (const Loop& loop : loops_) {
        stats.shared_loops += loop.loops();
        stats.body_calls += loop.work_of_owners().calls;
        stats.steals += loop.work_of_owners().steals;
    }
    for (const Worker& worker : workers_) {
        stats.body_calls += worker.calls.value();
        stats.steals += worker.steals.value();
        stats.finished_jobs += worker.jobs.value();
        stats.searches += worker.searches.value();
        stats.sleeps += worker.sleeps.value();
    }
    stats.crowded_out_loops = crowded_out_loops_.value();
    const std::uint64_t outside = jobs_run_outside_.value();
    stats.posted_jobs = workers_.empty() ? outside : queue_.put_count();
    stats.finished_jobs += outside;
    stats.wakes = parking_.wake_count();
    stats.sleeping_workers = parking_.sleeper_count();
    return stats;
}

Status PoolState::check() const noexcept {
    if (used_loops_.load(std::memory_order_acquire) != 0) return Status::corrupt_data;
    for (const Loop& loop : loops_) {
        if (!loop.is_at_rest()) return Status::corrupt_data;
    }
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        if (workers_[i].pool != this || workers_[i].participant != i + 1) return Status::corrupt_data;
    }
    const JobPoolStats numbers = stats();
    const bool is_sound = parking_.is_sound(static_cast<unsigned>(workers_.size())) && queue_.is_sound() &&
                          numbers.finished_jobs <= numbers.posted_jobs;
    return is_sound ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro::detail
