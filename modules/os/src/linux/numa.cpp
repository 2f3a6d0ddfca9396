#include "numa_policy.hpp"
#include "page_range.hpp"
#include "system_calls.hpp"
#include "text_file.hpp"

#include <ouro/os/numa.hpp>

#include <array>
#include <atomic>
#include <cstdint>

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ouro::os {
namespace {

constexpr unsigned kMaxNodes = 1024;
constexpr unsigned kBitsPerWord = sizeof(unsigned long) * 8;

}  // namespace

unsigned count_nodes(std::string_view online) noexcept {
    // e.g. "0", "0-3" or "0,2-3": the highest number is the last one.
    const std::size_t separator = online.find_last_of(",-");
    const auto last =
        parse_number(separator == std::string_view::npos ? online : text_from(online, separator + 1));
    return last && *last < kMaxNodes ? static_cast<unsigned>(*last) + 1 : 1;
}

Status set_memory_policy(MemoryBlock block, unsigned node) noexcept {
    std::array<unsigned long, kMaxNodes / kBitsPerWord> mask{};
    mask[node / kBitsPerWord] = 1UL << (node % kBitsPerWord);
    const long result = attempt(OsCall::bind_memory, [&] {
        // The kernel reads one bit less than it is told.
        return ::syscall(SYS_mbind, block.data, block.size, MPOL_BIND, mask.data(), kMaxNodes + 1UL, 0U);
    });
    if (result == 0) return Status::ok;
    return errno == EINVAL ? Status::no_such_node : status_of_error(errno);
}

unsigned numa_node_count() noexcept {
    static std::atomic<unsigned> known{0};
    const unsigned count = known.load(std::memory_order_relaxed);
    if (count != 0) return count;
    std::array<char, 256> buffer;
    const auto online = read_text_file("/sys/devices/system/node/online", buffer);
    // A kernel without NUMA has no such file; any other failure may pass.
    if (!online && online.status() != Status::not_found) return 1;
    known.store(online ? count_nodes(*online) : 1U, std::memory_order_relaxed);
    return known.load(std::memory_order_relaxed);
}

unsigned current_numa_node() noexcept {
    unsigned core = 0;
    unsigned node = 0;
    const long result =
        attempt(OsCall::query_core, [&] { return ::syscall(SYS_getcpu, &core, &node, nullptr); });
    return result == 0 ? node : 0;
}

Expected<NumaOutcome> bind_to_numa_node(MemoryBlock block, unsigned node) noexcept {
    const Status range = check_pages(block);
    if (range != Status::ok) return range;
    if (node >= numa_node_count()) return Status::no_such_node;
    if (numa_node_count() == 1) return NumaOutcome::single_node;
    const Status bound = set_memory_policy(block, node);
    if (bound != Status::ok) return bound;
    return NumaOutcome::bound;
}

Expected<unsigned> numa_node_of(const void* address) noexcept {
    const void* page = reinterpret_cast<const void*>(
        align_down(static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(address)), page_size()));
    int node = -1;
    const long result = attempt(OsCall::query_memory_node,
                                [&] { return ::syscall(SYS_move_pages, 0, 1UL, &page, nullptr, &node, 0); });
    if (result != 0) return status_of_error(errno);
    if (node < 0) return Status::not_mapped;
    return static_cast<unsigned>(node);
}

}  // namespace ouro::os
