#pragma once

#include <ouro/base/expected.hpp>

#include <cstdint>

// What has to happen around fork(): a child has only the thread that forked, and every lock that another one
// held stays held for ever. So whoever has locks takes them before and lets go on both sides afterwards.
namespace ouro::os {

using ForkHook = void (*)(void* context);

struct ForkHooks {
    // Before the process is copied, in the order opposite to their registration.
    ForkHook prepare = nullptr;
    // After it, in the order of registration: in the process itself, and in the child.
    ForkHook parent = nullptr;
    ForkHook child = nullptr;
    void* context = nullptr;

    friend constexpr bool operator==(const ForkHooks&, const ForkHooks&) noexcept = default;
};

inline constexpr std::uint32_t kMaxForkHooks = 8;

// Adds the hooks for the life of the process; each may be null, but not all. Those that are there already are
// not added again, so that whoever needs them can ask each time, before it takes the locks that they are for:
// a lock that is held while its hooks are added is held for ever in a child of that moment. A fork that has
// begun already runs none of them; it is waited for, some milliseconds at most, but not by the first hooks of
// a process, which cannot know of it. Hooks are called from the thread that forks, and several threads may
// fork at once. The first registration is the only one that the C library sees: against its other users, ours
// count from then. It keeps room for a few dozen registrations of a process and allocates beyond. Fails with
// bad_argument, capacity_exhausted, out_of_memory or, where processes cannot be copied, not_supported.
Expected<void> add_fork_hooks(const ForkHooks& hooks) noexcept;

}  // namespace ouro::os
