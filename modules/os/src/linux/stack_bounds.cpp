#include "stack_bounds.hpp"

#include "file_descriptor.hpp"
#include "kernel_abi.hpp"
#include "system_calls.hpp"
#include "text_file.hpp"

#include <cerrno>

#include <pthread.h>
#include <sys/ioctl.h>

namespace ouro::os {
namespace {

constexpr const char* kMappings = "/proc/self/maps";

// The mapping around an address: asked for alone, or read out of the whole list where the kernel is older.
StackBounds ask_for_mapping(std::uintptr_t address) noexcept {
    const auto file = FileDescriptor::open_for_reading(kMappings);
    if (!file) return {};
    abi::ProcmapQuery query{};
    query.size = sizeof(query);
    query.address = address;
    const int result =
        attempt(OsCall::query_mapping, [&] { return ::ioctl(file->get(), abi::kProcmapQuery, &query); });
    if (result != 0) return {};
    return {static_cast<std::uintptr_t>(query.start), static_cast<std::uintptr_t>(query.end)};
}

StackBounds search_mappings(std::uintptr_t address) noexcept {
    struct Search {
        std::uintptr_t address;
        StackBounds found;
    } search{address, {}};
    (void)for_each_line(
        kMappings,
        [](std::string_view line, void* context) {
            auto& wanted = *static_cast<Search*>(context);
            const std::size_t dash = line.find('-');
            const auto low = parse_number(text_until(line, dash), 16);
            const auto high = parse_number(text_from(line, dash + 1), 16);
            if (!low || !high) return true;
            const StackBounds bounds{static_cast<std::uintptr_t>(*low), static_cast<std::uintptr_t>(*high)};
            if (!bounds.contain(wanted.address)) return true;
            wanted.found = bounds;
            return false;
        },
        &search);
    return search.found;
}

// Neither allocates nor locks, and leaves errno as it was, as free() and handlers of signals have to.
[[gnu::cold, gnu::noinline]] StackBounds find_bounds(std::uintptr_t address) noexcept {
    const int error_before = errno;
    StackBounds found = ask_for_mapping(address);
    if (!found.contain(address)) found = search_mappings(address);
    errno = error_before;
    // The mapping may have grown together with a neighbour that goes away again; a thread's control block
    // lies above its frames.
    const auto control_block = static_cast<std::uintptr_t>(::pthread_self());
    if (found.contain(control_block) && control_block > address) found.high = control_block;
    return found;
}

}  // namespace

// A stack that grew, an alternate signal stack or a fiber's is looked up again.
StackBounds bounds_around(std::uintptr_t address) noexcept {
    [[gnu::tls_model("initial-exec")]] static thread_local StackBounds known;
    if (!known.contain(address)) [[unlikely]]
        known = find_bounds(address);
    return known;
}

}  // namespace ouro::os
