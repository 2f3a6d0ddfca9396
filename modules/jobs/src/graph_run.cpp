#include "graph_run.hpp"

#include <ouro/os/futex.hpp>

#include <algorithm>

namespace ouro::detail {
namespace {

// Whoever takes roots leaves so many times as much to others.
constexpr std::uint32_t kRootDivisor = 16;

bool may_begin(TaskNode& task) noexcept {
    if (task.predecessor_count == 1) return true;
    const std::atomic_ref awaited(task.awaited);
    // The last one finds a one that nobody else will touch.
    if (awaited.load(std::memory_order_acquire) != 1 && awaited.fetch_sub(1, std::memory_order_acq_rel) != 1)
        return false;
    awaited.store(task.predecessor_count, std::memory_order_relaxed);
    return true;
}

}  // namespace

void run_serially(const TaskPlan& plan, unsigned participant) noexcept {
    for (const std::uint32_t task : plan.serial_order)
        plan.tasks[task].entry(plan.tasks[task].function.data(), participant);
}

void GraphRun::open(const TaskPlan& plan) noexcept {
    plan_ = plan;
    roots_left_.store(static_cast<std::uint32_t>(plan.roots.size()), std::memory_order_relaxed);
    overflow_.reset();
    left_.store(static_cast<std::uint32_t>(plan.tasks.size()), std::memory_order_relaxed);
    gate_.open();
}

GraphWork GraphRun::work(unsigned participant) noexcept {
    GraphWork done;
    ReadyRing& own = rings_[participant];
    std::uint32_t count = 0;
    for (;;) {
        std::uint32_t next = own.take();
        if (next == kNoTask) next = find(participant, done);
        if (next == kNoTask) break;
        do {
            TaskNode& task = plan_.tasks[next];
            task.entry(task.function.data(), participant);
            next = finish(task, own);
            ++count;
        } while (next != kNoTask);
    }
    if (count != 0) count_down(count);
    done.tasks = count;
    return done;
}

std::uint32_t GraphRun::finish(const TaskNode& task, ReadyRing& own) noexcept {
    std::uint32_t next = kNoTask;
    TaskBatch others;
    for (const std::uint32_t successor :
         plan_.successors.subspan(task.first_successor, task.successor_count)) {
        if (!may_begin(plan_.tasks[successor])) continue;
        if (next != kNoTask) {
            if (others.is_full()) {
                share(others, own);
                others.clear();
            }
            others.add(next);
        }
        next = successor;
    }
    if (!others.is_empty()) share(others, own);
    return next;
}

std::uint32_t GraphRun::find(unsigned participant, GraphWork& done) noexcept {
    TaskBatch found;
    overflow_.take(plan_.tasks, found);
    if (found.is_empty()) take_roots(found);
    for (std::size_t i = 1; found.is_empty() && i < rings_.size(); ++i) {
        rings_[(participant + i) % rings_.size()].steal(found);
        if (!found.is_empty()) ++done.steals;
    }
    if (found.is_empty()) return kNoTask;
    const std::uint32_t next = found.take_last();
    if (!found.is_empty()) share(found, rings_[participant]);
    return next;
}

void GraphRun::take_roots(TaskBatch& batch) noexcept {
    std::uint32_t left = roots_left_.load(std::memory_order_relaxed);
    for (;;) {
        if (left == 0) return;
        const std::uint32_t wanted =
            std::clamp(left / kRootDivisor, std::uint32_t{1}, std::uint32_t{TaskBatch::kCapacity});
        if (!roots_left_.compare_exchange_weak(left, left - wanted, std::memory_order_relaxed)) continue;
        const auto roots = plan_.roots.last(left).first(wanted);
        for (std::uint32_t i = wanted; i != 0; --i)
            batch.add(roots[i - 1]);
        return;
    }
}

void GraphRun::share(const TaskBatch& batch, ReadyRing& own) noexcept {
    if (!own.put(batch.tasks())) overflow_.put(plan_.tasks, batch.tasks());
    if (!parking_.has_idle()) return;
    parking_.bring_news();
    // A worker that comes wakes others while there is more.
    if (!wake_owner() || batch.size() > 1) parking_.wake(1);
}

void GraphRun::count_down(std::uint32_t tasks) noexcept {
    if (left_.fetch_sub(tasks, std::memory_order_seq_cst) == tasks) wake_owner();
}

bool GraphRun::wake_owner() noexcept {
    if (owner_.load(std::memory_order_seq_cst) == kAwake) return false;
    if (owner_.exchange(kAwake, std::memory_order_seq_cst) == kAwake) return false;
    os::wake_one(owner_);
    return true;
}

void GraphRun::wait_for_news(std::uint64_t seen) noexcept {
    const auto is_over = [&]() noexcept { return has_ended() || parking_.news() != seen; };
    if (patience_.spin_until(is_over)) return;
    patience_.sleep([&]() noexcept {
        owner_.store(kAsleep, std::memory_order_seq_cst);
        // Who brings news or the end looks at the word afterwards: one of the two sees the other.
        while (!has_ended() && !parking_.has_news_since(seen) &&
               owner_.load(std::memory_order_acquire) == kAsleep)
            os::wait_on(owner_, kAsleep);
        owner_.store(kAwake, std::memory_order_relaxed);
    });
}

bool GraphRun::has_tasks() const noexcept {
    if (!gate_.is_open()) return false;
    return roots_left_.load(std::memory_order_relaxed) != 0 || !overflow_.is_empty() || !are_rings_empty();
}

bool GraphRun::are_rings_empty() const noexcept {
    return std::ranges::all_of(rings_, [](const ReadyRing& ring) { return ring.is_empty(); });
}

void GraphRun::count(const GraphWork& work) noexcept {
    runs_.add(1);
    tasks_.add(work.tasks);
    steals_.add(work.steals);
}

bool GraphRun::is_at_rest() const noexcept {
    return gate_.is_at_rest() && has_ended() && overflow_.is_empty() && are_rings_empty();
}

}  // namespace ouro::detail
