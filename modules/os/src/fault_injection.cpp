#include <ouro/os/fault_injection.hpp>

#include <array>
#include <atomic>

namespace ouro::os::fault_injection {
namespace {

std::atomic<unsigned> target_call{kOsCallCount};
std::atomic<std::uint64_t> target_use{0};
std::atomic<std::uint64_t> last_target_use{0};
std::atomic<int> target_error{0};
std::atomic<bool> fired{false};
std::array<std::atomic<std::uint64_t>, kOsCallCount> use_counts{};

constexpr std::array<std::string_view, kOsCallCount> kNames{
    "map_memory",          "unmap_memory",        "protect_memory",
    "advise_memory",       "query_mapping",       "create_memory_object",
    "resize_object",       "discard_object",      "seal_object",
    "open_userfaultfd",    "userfaultfd_control", "scan_pagemap",
    "open_file",           "read_file",           "bind_memory",
    "query_memory_node",   "start_thread",        "set_affinity",
    "get_affinity",        "set_signal_handler",  "wait_on_word",
    "query_system",        "query_core",          "grow_linear_memory",
    "remap_memory",        "make_thread_key",     "set_thread_value",
    "register_fork_hooks", "process_barrier",     "create_file",
    "write_file",          "sync_file",           "rename_file",
    "read_process",        "query_file"};

void fail_between(OsCall call, std::uint64_t first, std::uint64_t last, int error) noexcept {
    clear();
    target_use = first;
    last_target_use = last;
    target_error = error;
    target_call = static_cast<unsigned>(call);
}

}  // namespace

void fail_nth(OsCall call, std::uint64_t nth, int error) noexcept {
    fail_between(call, nth, nth, error);
}

void fail_from(OsCall call, std::uint64_t nth, int error) noexcept {
    fail_between(call, nth, UINT64_MAX, error);
}

void clear() noexcept {
    target_call = kOsCallCount;
    fired = false;
    for (auto& count : use_counts)
        count = 0;
}

bool has_fired() noexcept {
    return fired;
}

std::uint64_t uses(OsCall call) noexcept {
    return use_counts[static_cast<unsigned>(call)];
}

std::string_view name_of(OsCall call) noexcept {
    return call < OsCall::count_ ? kNames[static_cast<unsigned>(call)] : "unknown";
}

int count_use(OsCall call) noexcept {
    const auto index = static_cast<unsigned>(call);
    const std::uint64_t use = use_counts[index].fetch_add(1) + 1;
    if (index != target_call || use < target_use || use > last_target_use) return 0;
    fired = true;
    return target_error;
}

}  // namespace ouro::os::fault_injection
