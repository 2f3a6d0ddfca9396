#include "stack_bounds.hpp"

#include "text_file.hpp"

#include <pthread.h>

namespace ouro::os {
namespace {

// The mapping around an address, from the kernel's own table; neither allocates nor locks.
[[gnu::cold, gnu::noinline]] StackBounds find_bounds(std::uintptr_t address) noexcept {
    struct Search {
        std::uintptr_t address;
        StackBounds found;
    } search{address, {}};
    (void)for_each_line(
        "/proc/self/maps",
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
    // The mapping may have grown together with a neighbour that goes away again; a thread's control block
    // lies above its frames.
    const auto control_block = static_cast<std::uintptr_t>(::pthread_self());
    if (search.found.contain(control_block) && control_block > address) search.found.high = control_block;
    return search.found;
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
