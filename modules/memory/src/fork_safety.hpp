#pragma once

#include <ouro/base/expected.hpp>

// What the module does around fork(): the locks of its tables are taken before, in the order of the functions
// here, and let go on both sides; then those of guarded allocators, of system allocators and of partitions
// with guards.
namespace ouro::detail {

enum class ForkSide { parent, child };

// From the first call that succeeds, for the life of the process. Fails as os::add_fork_hooks.
Expected<void> watch_forks() noexcept;

// In the child the heaps of threads that are not there any more become orphans.
void hold_live_heaps_for_fork() noexcept;
void resume_live_heaps(ForkSide side) noexcept;

void hold_block_registry_for_fork() noexcept;
void resume_block_registry() noexcept;

void hold_tags_for_fork() noexcept;
void resume_tags() noexcept;

// In the child nobody is inside a callback but the thread that forked, if it is.
void hold_observers_for_fork() noexcept;
void resume_observers(ForkSide side) noexcept;

void hold_guards_for_fork() noexcept;
void resume_guards() noexcept;

}  // namespace ouro::detail
