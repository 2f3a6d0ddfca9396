#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/base/expected.hpp>
#include <ouro/jobs/job_pool.hpp>
#include <ouro/jobs/job_priority.hpp>

#include <atomic>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace ouro {

// Work that can wait, such as packing old data: it runs on a worker when no loop has anything to do, the
// oldest of a priority first. The object belongs to the caller and can be posted again when it is done; while
// it is pending it must stay where it is. Derive from it, or use JobWith.
//
//     JobWith pack([&] { history.pack(tick); });
//     if (!post(pool, pack)) ...
//     ...
//     wait(pack);
class Job {
public:
    using Entry = void (*)(Job& job) noexcept;

    // Requires: an entry.
    explicit Job(Entry entry) noexcept : entry_(entry) {
        OURO_ASSERT(entry != nullptr, "a job needs something to do");
    }
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;
    ~Job() { OURO_ASSERT(!is_pending(), "wait for a job before it is destroyed"); }

    // Posted, and not done yet. From any thread.
    [[nodiscard]] bool is_pending() const noexcept {
        const std::uint32_t state = state_.load(std::memory_order_acquire);
        return state != kNeverPosted && state != kDone;
    }
    // True once it has run; what it wrote is visible then. False before the first post.
    [[nodiscard]] bool is_done() const noexcept { return state_.load(std::memory_order_acquire) == kDone; }

private:
    friend class detail::PoolState;
    friend void wait(Job& job) noexcept;

    static constexpr std::uint32_t kNeverPosted = 0;
    static constexpr std::uint32_t kDone = 1;
    // Is being put into the queue: nobody else may look at where it lies.
    static constexpr std::uint32_t kPosting = 2;
    static constexpr std::uint32_t kPending = 3;
    // Pending, and somebody sleeps until it is done.
    static constexpr std::uint32_t kAwaited = 4;

    std::atomic<std::uint32_t> state_{kNeverPosted};
    Entry entry_;
    detail::PoolState* pool_ = nullptr;
    std::atomic<Job*>* place_ = nullptr;
};

// Lets a worker run the job some time from now: a high one before all else that has not begun, the others
// when no loop and no graph has anything for the worker, normal ones before low ones. So that none waits for
// ever, of eight jobs that a worker takes one is a normal one if any waits, and of 64 one is a low one. On a
// pool without workers it has run when this returns. Requires: no other thread posts the same job at the same
// time. Fails with busy (the job is pending; it may not post itself) or capacity_exhausted (too many jobs of
// its priority wait, or a thread lost its core for long while it was taking the oldest one), and the job is
// then as it was.
Expected<void> post(JobPool& pool, Job& job, JobPriority priority = JobPriority::normal) noexcept;

// Returns when the job is not pending. A job that nobody has begun is run here and now, and no other in its
// place, so that a wait costs what is left of this job at most. Not from inside the job itself.
void wait(Job& job) noexcept;

// A job that calls something it holds.
template <class Fn>
class JobWith final : public Job {
    static_assert(std::is_invocable_v<Fn&>, "a job's function takes no arguments");

public:
    explicit JobWith(Fn fn) noexcept : Job(&run), fn_(std::move(fn)) {}

    [[nodiscard]] Fn& function() noexcept { return fn_; }

private:
    static void run(Job& job) noexcept { static_cast<JobWith&>(job).fn_(); }

    Fn fn_;
};

}  // namespace ouro
