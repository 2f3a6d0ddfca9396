#pragma once

#include <ouro/base/align.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/base/status.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <cstdint>

namespace ouro::os {

// What every function on ranges checks first: not empty, whole units, not wrapping around the address space.
[[nodiscard]] inline Status check_range(MemoryBlock block, std::size_t unit) noexcept {
    if (block.size == 0) return Status::zero_size;
    if (block.is_null() || !is_aligned(block.data, unit)) return Status::bad_address;
    if (!is_aligned(block.size, unit)) return Status::bad_address;
    const auto start = reinterpret_cast<std::uintptr_t>(block.data);
    return checked_add<std::uintptr_t>(start, block.size).status();
}

[[nodiscard]] inline Status check_pages(MemoryBlock block) noexcept {
    return check_range(block, page_size());
}

// The request with its defaults filled in and its bytes in whole pages, or what is wrong with it.
[[nodiscard]] inline Expected<ReserveRequest> complete_request(ReserveRequest request) noexcept {
    if (request.bytes == 0) return Status::zero_size;
    if (request.alignment == 0) request.alignment = page_size();
    if (!is_alignment(request.alignment)) return Status::bad_alignment;
    if (request.alignment < page_size()) request.alignment = page_size();
    const auto bytes = checked_align_up(request.bytes, page_size());
    if (!bytes) return bytes.status();
    if (request.address != nullptr && !is_aligned(request.address, request.alignment))
        return Status::bad_address;
    request.bytes = *bytes;
    return request;
}

}  // namespace ouro::os
