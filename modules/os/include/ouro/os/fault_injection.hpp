#pragma once

#include <cstdint>
#include <string_view>

// Lets a test make the n-th use of an operating-system call fail, or every one from the n-th on, so that
// every error path is walked. Exists only in builds with OURO_FAULT_INJECTION; elsewhere kFaultInjection is
// false and no code of it is compiled.
namespace ouro::os {

#if defined(OURO_FAULT_INJECTION)
inline constexpr bool kFaultInjection = true;
#else
inline constexpr bool kFaultInjection = false;
#endif

// Every call that the os module makes and that can fail in a way the module must answer. Not here: calls that
// cannot fail with valid arguments (clock, yield, wake, join) and closing what is no longer needed.
enum class OsCall : unsigned char {
    map_memory,
    unmap_memory,
    protect_memory,
    advise_memory,
    query_mapping,
    create_memory_object,
    resize_object,
    discard_object,
    seal_object,
    open_userfaultfd,
    userfaultfd_control,
    scan_pagemap,
    open_file,
    read_file,
    bind_memory,
    query_memory_node,
    start_thread,
    set_affinity,
    get_affinity,
    set_signal_handler,
    wait_on_word,
    query_system,
    query_core,
    grow_linear_memory,
    remap_memory,
    make_thread_key,
    set_thread_value,
    register_fork_hooks,
    process_barrier,
    create_file,
    write_file,
    sync_file,
    rename_file,
    read_process,
    query_file,
    count_,
};

inline constexpr unsigned kOsCallCount = static_cast<unsigned>(OsCall::count_);

namespace fault_injection {

// The use number `nth` (from 1, counted from now) of the call fails with the error number, once. Replaces
// what was asked for before, of any call.
void fail_nth(OsCall call, std::uint64_t nth, int error) noexcept;
// The same, and every use after it.
void fail_from(OsCall call, std::uint64_t nth, int error) noexcept;

// Nothing fails any more.
void clear() noexcept;

// True when the failure asked for last has happened.
[[nodiscard]] bool has_fired() noexcept;

// How often the call was used since the last fail_nth, fail_from or clear.
[[nodiscard]] std::uint64_t uses(OsCall call) noexcept;

[[nodiscard]] std::string_view name_of(OsCall call) noexcept;

// For the module's own wrappers: counts a use and returns the error number to fail with, or 0.
[[nodiscard]] int count_use(OsCall call) noexcept;

}  // namespace fault_injection
}  // namespace ouro::os
