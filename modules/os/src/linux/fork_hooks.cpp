#include "system_calls.hpp"

#include <ouro/os/clock.hpp>
#include <ouro/os/fork_hooks.hpp>
#include <ouro/os/thread.hpp>

#include <algorithm>
#include <array>
#include <atomic>

#include <pthread.h>
#include <unistd.h>

namespace ouro::os {
namespace {

// Whether the C library knows of our hooks, or which process is about to change them: a child whose parent
// was at it has nobody who would finish.
using Registration = std::uint32_t;
constexpr Registration kNone = 0;
constexpr Registration kDone = 1;
constexpr Registration kUnderWay = 2;
constexpr unsigned kProcessShift = 2;

constinit std::atomic<Registration> registration{kNone};
constinit std::array<ForkHooks, kMaxForkHooks> table{};
constinit std::atomic<std::uint32_t> count{0};

// How many hooks the fork of this thread has prepared: what is added later must not be undone. The child's
// only thread is a copy of this one, and finds its number here.
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint32_t prepared = 0;
// The C library calls as often as it was told to, which is twice in the child of a process whose other thread
// had told it and not said so yet.
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint32_t calls = 0;

// Forks between prepare and resume.
constinit std::atomic<std::uint32_t> forks_under_way{0};

void call(ForkHook hook, void* context) noexcept {
    if (hook != nullptr) hook(context);
}

void prepare_all() noexcept {
    if (calls++ != 0) return;
    forks_under_way.fetch_add(1, std::memory_order_seq_cst);
    prepared = count.load(std::memory_order_acquire);
    for (std::uint32_t index = prepared; index-- != 0;)
        call(table[index].prepare, table[index].context);
}

void resume_parent() noexcept {
    if (--calls != 0) return;
    for (std::uint32_t index = 0; index < prepared; ++index)
        call(table[index].parent, table[index].context);
    forks_under_way.fetch_sub(1, std::memory_order_relaxed);
}

void resume_child() noexcept {
    if (--calls != 0) return;
    // Whoever was adding hooks when the process was copied does not exist here, and had not counted them yet.
    registration.store(kDone, std::memory_order_relaxed);
    forks_under_way.store(0, std::memory_order_relaxed);
    for (std::uint32_t index = 0; index < prepared; ++index)
        call(table[index].child, table[index].context);
}

Status register_once() noexcept {
    const int result = attempt(OsCall::register_fork_hooks, [] {
        return with_errno(::pthread_atfork(prepare_all, resume_parent, resume_child));
    });
    return result == 0 ? Status::ok : status_of_error(errno);
}

Status append(const ForkHooks& hooks) noexcept {
    const std::uint32_t index = count.load(std::memory_order_relaxed);
    if (std::find(table.begin(), table.begin() + index, hooks) != table.begin() + index) return Status::ok;
    if (index == kMaxForkHooks) return Status::capacity_exhausted;
    table[index] = hooks;
    count.store(index + 1, std::memory_order_seq_cst);
    return Status::ok;
}

// Forks that have not seen new hooks: whoever now takes a lock would leave it held in their children. Not for
// ever, for they may be waiting for something that the caller holds.
void let_forks_pass() noexcept {
    constexpr std::uint64_t kPatienceNs = 20'000'000;
    const std::uint64_t begin = monotonic_ns();
    while (calls == 0 && forks_under_way.load(std::memory_order_seq_cst) != 0 &&
           monotonic_ns() - begin < kPatienceNs)
        yield_thread();
}

// Takes the right to change the table and returns the state before.
Registration begin_change() noexcept {
    const Registration mine = static_cast<Registration>(::getpid()) << kProcessShift | kUnderWay;
    for (;;) {
        Registration seen = registration.load(std::memory_order_relaxed);
        if (seen != mine && registration.compare_exchange_weak(seen, mine, std::memory_order_acquire)) {
            return seen == kDone ? kDone : kNone;
        }
        yield_thread();
    }
}

}  // namespace

Expected<void> add_fork_hooks(const ForkHooks& hooks) noexcept {
    if (hooks.prepare == nullptr && hooks.parent == nullptr && hooks.child == nullptr)
        return Status::bad_argument;
    const Registration before = begin_change();
    Status status = before == kDone ? Status::ok : register_once();
    const Registration after = status == Status::ok ? kDone : before;
    if (status == Status::ok) status = append(hooks);
    registration.store(after, std::memory_order_release);
    if (status == Status::ok) let_forks_pass();
    return status;
}

}  // namespace ouro::os
