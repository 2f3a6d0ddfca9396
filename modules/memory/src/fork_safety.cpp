#include "fork_safety.hpp"

#include <ouro/memory/detail/word_lock.hpp>
#include <ouro/os/fork_hooks.hpp>

#include <atomic>

namespace ouro::detail {
namespace {

constinit std::atomic<bool> g_is_watching = false;

void before_fork(void*) noexcept {
    hold_live_heaps_for_fork();
    hold_block_registry_for_fork();
    hold_tags_for_fork();
    hold_observers_for_fork();
    hold_guards_for_fork();
    ForkSafeLock::hold_all();
}

void resume(ForkSide side) noexcept {
    ForkSafeLock::let_all_go();
    resume_guards();
    resume_observers(side);
    resume_tags();
    resume_block_registry();
    resume_live_heaps(side);
}

}  // namespace

Expected<void> watch_forks() noexcept {
    if (g_is_watching.load(std::memory_order_acquire)) return {};
    const auto added = os::add_fork_hooks({.prepare = before_fork,
                                           .parent = [](void*) { resume(ForkSide::parent); },
                                           .child = [](void*) { resume(ForkSide::child); }});
    if (added) g_is_watching.store(true, std::memory_order_release);
    return added;
}

}  // namespace ouro::detail
