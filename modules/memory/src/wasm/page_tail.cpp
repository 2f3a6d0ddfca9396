#include "page_tail.hpp"

namespace ouro::detail {

Expected<void> release_tail(MemoryBlock /*tail*/) noexcept {
    return Status::not_supported;
}

Expected<void> extend_in_place(MemoryBlock /*block*/, std::size_t /*more_bytes*/) noexcept {
    return Status::not_supported;
}

}  // namespace ouro::detail
