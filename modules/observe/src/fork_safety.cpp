#include "fork_safety.hpp"

#include <ouro/os/fork_hooks.hpp>

#include <atomic>

namespace ouro::detail {
namespace {

// In the order in which a thread may hold several.
void before_fork(void*) noexcept {
    hold_default_tags_for_fork();
    hold_image_for_fork();
    hold_budgets_for_fork();
    hold_shards_for_fork();
    hold_accounts_for_fork();
    t_is_forking = true;
}

void after_fork(void*) noexcept {
    t_is_forking = false;
    resume_accounts();
    resume_shards();
    resume_budgets();
    resume_image();
    resume_default_tags();
}

void after_fork_in_child(void*) noexcept {
    repair_shards_in_child();
    repair_accounts_in_child();
    repair_events_in_child();
    after_fork(nullptr);
}

constinit std::atomic<bool> g_is_watching = false;

}  // namespace

void watch_forks_of_ledger() noexcept {
    if (g_is_watching.load(std::memory_order_acquire)) return;
    // Where there is no room for hooks, everything works but in the child of a fork.
    static_cast<void>(
        os::add_fork_hooks({.prepare = before_fork, .parent = after_fork, .child = after_fork_in_child}));
    g_is_watching.store(true, std::memory_order_release);
}

}  // namespace ouro::detail
