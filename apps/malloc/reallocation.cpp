#include "guarded_blocks.hpp"
#include "idle_return.hpp"
#include "mapped_blocks.hpp"
#include "process_heap.hpp"
#include "profiled_blocks.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ouro::process_heap {
namespace {

using detail::UnitKind;

// Blocks of units that grow beyond this, and cannot where they are, take their pages along to a mapping of
// their own. Smaller ones are copied: units whose memory is there already take less time than fresh pages.
constexpr std::size_t kLeastMovedBytes = std::size_t{8} << 20;
// Mappings that shrink stay mappings down to this.
constexpr std::size_t kLeastMappedBytes = std::size_t{1} << 20;

// Whether a block may stay where it is for a smaller request: not when it would waste more than a half,
// unless there is nothing smaller.
bool stays(UnitKind kind, std::size_t usable, std::size_t new_size) noexcept {
    if (new_size > usable) return false;
    if (new_size >= usable / 2) return true;
    return detail::is_slab(kind) &&
           detail::class_of_size(std::max(new_size, kAlignment)) == detail::class_of_kind(kind);
}

// To touch as many pages anew takes longer than to copy them, and the process would need both for a while.
void* move_to_mapping(std::byte* block, std::size_t usable, std::size_t new_size) noexcept {
    make_room_for_mapping(*known_core());
    void* const moved = map_pages({block, usable}, new_size);
    if (moved != nullptr) known_core()->deallocate_emptied(block);
    return moved;
}

// For a block of whole units.
void* resize_units(std::byte* block, std::size_t usable, std::size_t new_size) noexcept {
    void* resized = nullptr;
    if (new_size > detail::kLargestClassBytes && new_size <= kLargestUnitBytes)
        resized = known_core()->resize_large(block, new_size, t_state.free_heap).data;
    if (resized == nullptr && new_size > usable && new_size >= kLeastMovedBytes)
        resized = move_to_mapping(block, usable, new_size);
    return resized;
}

// The block with its new size without moving bytes; null when that cannot be.
void* resize_in_place(void* block, std::size_t usable, std::size_t new_size) noexcept {
    // A guarded one moves, so that the old address is guarded from now on and the new end is.
    if (is_guarded(block)) return new_size == usable ? block : nullptr;
    if (is_profiled(block)) return new_size <= usable && new_size >= usable / 2 ? block : nullptr;
    const UnitKind kind = kind_of(block);
    if (stays(kind, usable, new_size)) return block;
    if (kind == UnitKind::large_head) return resize_units(static_cast<std::byte*>(block), usable, new_size);
    if (kind != UnitKind::none || new_size < kLeastMappedBytes) return nullptr;
    if (known_core() != nullptr && new_size > usable) make_room_for_mapping(*known_core());
    return remap_block(block, new_size);
}

// The same, and tells the profiler of large ones.
void* resize(void* block, std::size_t usable, std::size_t new_size) noexcept {
    if (!is_profiling() || is_profiled(block) || detail::is_slab(kind_of(block)))
        return resize_in_place(block, usable, new_size);
    ResizedBlock seen(block);
    void* const resized = resize_in_place(block, usable, new_size);
    if (resized != nullptr) {
        seen.becomes(resized, new_size);
    } else {
        seen.stays(block);
    }
    return resized;
}

// For a block that cannot stay where it is. One of whole units that grows gets room for a quarter more, which
// takes memory when it is written to: it will grow again, and two that grow by turns would otherwise be
// copied at every step, each in the other's way.
void* allocate_for_move(void* block, std::size_t usable, std::size_t new_size) noexcept {
    const std::size_t roomy = new_size + new_size / 4;
    if (kind_of(block) == UnitKind::large_head && new_size > usable && roomy <= kLargestUnitBytes)
        if (void* const moved = allocate(roomy)) return moved;
    return allocate(new_size);
}

}  // namespace

void* reallocate(void* block, std::size_t new_size) noexcept {
    if (block == nullptr) return allocate(new_size);
    if (new_size == 0) {
        deallocate(block);
        return nullptr;
    }
    if (new_size > kMostBytes) {
        errno = ENOMEM;
        return nullptr;
    }
    const int saved_errno = errno;
    const std::size_t usable = usable_size(block);
    void* const resized = resize(block, usable, new_size);
    // The end of a mapping that could not be given up, for one, has set it.
    errno = saved_errno;
    if (resized != nullptr) return resized;
    void* const moved = allocate_for_move(block, usable, new_size);
    if (moved == nullptr) return nullptr;
    std::memcpy(moved, block, std::min(usable, new_size));
    deallocate(block);
    return moved;
}

}  // namespace ouro::process_heap
