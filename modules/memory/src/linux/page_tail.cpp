#include "page_tail.hpp"

#include <ouro/os/virtual_memory.hpp>

namespace ouro::detail {

Expected<void> release_tail(MemoryBlock tail) noexcept {
    return os::release(tail);
}

Expected<void> extend_in_place(MemoryBlock block, std::size_t more_bytes) noexcept {
    const auto more = os::reserve({.bytes = more_bytes, .address = block.end()});
    if (!more) return more.status();
    const auto committed = os::commit(*more);
    if (!committed) (void)os::release(*more);
    return committed;
}

}  // namespace ouro::detail
