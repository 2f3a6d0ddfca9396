#include "system_calls.hpp"

#include <ouro/os/fork_hooks.hpp>
#include <ouro/os/thread.hpp>

#include <array>
#include <atomic>

#include <pthread.h>

namespace ouro::os {
namespace {

enum class Registration : unsigned char { none, under_way, done };

// Under way: a thread adds to the table. Done and none are the two states of rest.
constinit std::atomic<Registration> registration{Registration::none};
constinit std::array<ForkHooks, kMaxForkHooks> table{};
constinit std::atomic<std::uint32_t> count{0};

// How many hooks the fork of this thread has prepared: what is added later must not be undone. The child's
// only thread is a copy of this one, and finds its number here.
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint32_t prepared = 0;

void call(ForkHook hook, void* context) noexcept {
    if (hook != nullptr) hook(context);
}

void prepare_all() noexcept {
    prepared = count.load(std::memory_order_acquire);
    for (std::uint32_t index = prepared; index-- != 0;)
        call(table[index].prepare, table[index].context);
}

void resume_parent() noexcept {
    for (std::uint32_t index = 0; index < prepared; ++index)
        call(table[index].parent, table[index].context);
}

void resume_child() noexcept {
    // Whoever was adding hooks when the process was copied does not exist here, and had not counted them yet.
    registration.store(Registration::done, std::memory_order_relaxed);
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
    if (index == kMaxForkHooks) return Status::capacity_exhausted;
    table[index] = hooks;
    count.store(index + 1, std::memory_order_release);
    return Status::ok;
}

// Takes the right to change the table and returns the state before.
Registration begin_change() noexcept {
    for (;;) {
        Registration seen = registration.load(std::memory_order_relaxed);
        if (seen != Registration::under_way &&
            registration.compare_exchange_weak(seen, Registration::under_way, std::memory_order_acquire)) {
            return seen;
        }
        yield_thread();
    }
}

}  // namespace

Expected<void> add_fork_hooks(const ForkHooks& hooks) noexcept {
    if (hooks.prepare == nullptr && hooks.parent == nullptr && hooks.child == nullptr)
        return Status::bad_argument;
    const Registration before = begin_change();
    Status status = before == Registration::done ? Status::ok : register_once();
    const Registration after = status == Status::ok ? Registration::done : before;
    if (status == Status::ok) status = append(hooks);
    registration.store(after, std::memory_order_release);
    return status;
}

}  // namespace ouro::os
