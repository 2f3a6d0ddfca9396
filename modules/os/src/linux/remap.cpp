#include "mappings.hpp"
#include "page_range.hpp"
#include "system_calls.hpp"

#include <ouro/os/remap.hpp>

#include <cstring>

#include <sys/mman.h>

namespace ouro::os {
namespace {

Expected<std::size_t> check_growth(MemoryBlock block, std::size_t new_bytes) noexcept {
    const Status range = check_pages(block);
    if (range != Status::ok) return range;
    const auto whole = checked_align_up(new_bytes, page_size());
    if (!whole) return whole.status();
    if (*whole <= block.size) return Status::bad_argument;
    const auto start = reinterpret_cast<std::uintptr_t>(block.data);
    if (const auto end = checked_add<std::uintptr_t>(start, *whole); !end) return end.status();
    return whole;
}

// Says whether the addresses are free by taking them for a moment.
Status check_free(MemoryBlock block) noexcept {
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void* result = attempt(OsCall::map_memory, MAP_FAILED,
                           [&] { return ::mmap(block.data, block.size, PROT_NONE, kFlags, -1, 0); });
    if (result == MAP_FAILED) return errno == ENOMEM ? explain_no_addresses() : status_of_error(errno);
    const Status undone = unmap({static_cast<std::byte*>(result), block.size});
    if (undone != Status::ok) return undone;
    // Kernels before 4.17 take the flag for a hint and may map elsewhere.
    return result == block.data ? Status::ok : Status::address_in_use;
}

// The same for any addresses.
Status check_room(std::size_t bytes) noexcept {
    const auto room = reserve({.bytes = bytes});
    return room ? unmap(*room) : room.status();
}

Status explain_refusal(int error, MemoryBlock block, std::size_t new_bytes, bool may_move) noexcept {
    switch (error) {
        case EFAULT:
            return Status::not_mapped;
        case EAGAIN:  // locked pages beyond the limit
            return Status::out_of_memory;
        case EINVAL:  // more than all addresses, or a mapping of a kind that cannot grow
        case ENOMEM:
            break;
        default:
            return status_of_error(error);
    }
    const MemoryBlock behind{block.data + block.size, new_bytes - block.size};
    const Status room = may_move ? check_room(new_bytes) : check_free(behind);
    if (room != Status::ok) return room;
    return error == EINVAL ? Status::not_mapped : explain_no_memory(block);
}

Expected<MemoryBlock> remap(MemoryBlock block, std::size_t new_bytes, bool may_move) noexcept {
    const auto bytes = check_growth(block, new_bytes);
    if (!bytes) return bytes.status();
    const int flags = may_move ? MREMAP_MAYMOVE : 0;
    void* result = attempt(OsCall::remap_memory, MAP_FAILED,
                           [&] { return ::mremap(block.data, block.size, *bytes, flags); });
    if (result == MAP_FAILED) return explain_refusal(errno, block, *bytes, may_move);
    return MemoryBlock{static_cast<std::byte*>(result), *bytes};
}

Status explain_no_move(int error) noexcept {
    return error == EFAULT ? Status::not_mapped : status_of_error(error);
}

Status check_room_for(MemoryBlock block, MemoryBlock room) noexcept {
    Status status = check_pages(block);
    if (status == Status::ok) status = check_pages(room);
    if (status == Status::ok && room.size < block.size) status = Status::bad_argument;
    return status;
}

// To drop what was read of a range is refused where it is locked; of private memory nothing is dropped.
bool is_locked(MemoryBlock block) noexcept {
    const int result =
        attempt(OsCall::remap_memory, -1, [&] { return ::msync(block.data, block.size, MS_INVALIDATE); });
    return result != 0 && errno == EBUSY;
}

// The system empties the room before it looks at the block. So a room that was refused may have been taken by
// another thread meanwhile, and must not be unmapped.
Status move_to(MemoryBlock block, MemoryBlock room) noexcept {
    constexpr int kFlags = MREMAP_MAYMOVE | MREMAP_FIXED;
    void* const result = attempt(OsCall::remap_memory, MAP_FAILED, [&] {
        return ::mremap(block.data, block.size, room.size, kFlags, room.data);
    });
    return result == MAP_FAILED ? explain_no_move(errno) : Status::ok;
}

}  // namespace

Expected<MemoryBlock> extend(MemoryBlock block, std::size_t new_bytes) noexcept {
    return remap(block, new_bytes, false);
}

Expected<MemoryBlock> move_and_extend(MemoryBlock block, std::size_t new_bytes) noexcept {
    return remap(block, new_bytes, true);
}

Expected<MemoryBlock> move_into(MemoryBlock block, MemoryBlock room) noexcept {
    Status status = check_room_for(block, room);
    if (status == Status::ok) status = move_to(block, room);
    if (status != Status::ok) return status;
    return room;
}

Expected<MemoryBlock> move_pages_into(MemoryBlock block, MemoryBlock room) noexcept {
    const Status checked = check_room_for(block, room);
    if (checked != Status::ok) return checked;
    // The system would take the lock off the whole mapping that the block is in.
    if (is_locked(block)) {
        [[maybe_unused]] const Status undone = unmap(room);
        return Status::not_supported;
    }
    // What leaves its addresses usable cannot grow in the same step. The last argument is a wish for the new
    // ones: without it the system is given whatever is in that register.
    constexpr int kFlags = MREMAP_MAYMOVE | MREMAP_DONTUNMAP;
    void* const between = attempt(OsCall::remap_memory, MAP_FAILED, [&] {
        return ::mremap(block.data, block.size, block.size, kFlags, nullptr);
    });
    if (between == MAP_FAILED) {
        const int error = errno;
        [[maybe_unused]] const Status undone = unmap(room);
        return error == EINVAL ? Status::not_supported : explain_no_move(error);
    }
    const MemoryBlock pages{static_cast<std::byte*>(between), block.size};
    const Status moved = move_to(pages, room);
    if (moved == Status::ok) return room;
    std::memcpy(block.data, pages.data, pages.size);
    [[maybe_unused]] const Status undone = unmap(pages);
    return moved;
}

}  // namespace ouro::os
