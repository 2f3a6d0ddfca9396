// The freed ranges that a system allocator keeps: for the next block of their size, under a seal, and because
// the system would not take them back.
#include "joint_release.hpp"

#include <ouro/memory/annotations.hpp>
#include <ouro/memory/seal.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace ouro {
namespace {

using detail::can_release_together;
using Lock = detail::WordLockScope;

}  // namespace

// Requires: the lock is held, from here on to keep.
MemoryBlock SystemAllocator::remove_cached(std::size_t index) noexcept {
    const MemoryBlock range = books_.cache[index];
    std::shift_left(books_.cache.begin() + static_cast<std::ptrdiff_t>(index),
                    books_.cache.begin() + static_cast<std::ptrdiff_t>(books_.cached), 1);
    --books_.cached;
    books_.cached_bytes -= range.size;
    annotate::permit(range);
    return range;
}

// The newest of the size; else a part of what was held back. Of the former the pages are likelier to
// be in the processor's caches.
MemoryBlock SystemAllocator::take_cached(std::size_t bytes, std::size_t alignment) noexcept {
    for (std::size_t i = books_.cached; i-- > 0;) {
        const MemoryBlock range = books_.cache[i];
        if (range.size == bytes && is_aligned(range.data, alignment)) return remove_cached(i);
    }
    return take_held_back(bytes, alignment);
}

void SystemAllocator::hold_back(MemoryBlock range) noexcept {
    books_.held_back_bytes += range.size;
    // What was cut apart is whole again when all of it is back.
    for (HeldRange** link = &books_.held_back; *link != nullptr && can_release_together();) {
        const MemoryBlock other{reinterpret_cast<std::byte*>(*link), (*link)->bytes};
        if (other.end() != range.data && range.end() != other.data) {
            link = &(*link)->next;
            continue;
        }
        *link = (*link)->next;
        range = {std::min(range.data, other.data), range.size + other.size};
    }
    annotate::forbid(range);
    annotate::permit({range.data, sizeof(HeldRange)});
    books_.held_back = ::new (range.data) HeldRange{books_.held_back, range.size};
}

// Of the smallest range that serves, so that the larger ones stay whole for blocks that need them.
MemoryBlock SystemAllocator::take_held_back(std::size_t bytes, std::size_t alignment) noexcept {
    HeldRange** best = nullptr;
    for (HeldRange** link = &books_.held_back; *link != nullptr; link = &(*link)->next) {
        const std::size_t size = (*link)->bytes;
        if (size < bytes || size - bytes < padding_to(*link, alignment)) continue;
        if (best == nullptr || size < (*best)->bytes) best = link;
    }
    if (best == nullptr) return {};
    const MemoryBlock range{reinterpret_cast<std::byte*>(*best), (*best)->bytes};
    const std::size_t front = padding_to(range.data, alignment);
    *best = (*best)->next;
    books_.held_back_bytes -= range.size;
    if (front != 0) hold_back(range.sub(0, front));
    const std::size_t end = front + bytes;
    if (range.size > end) hold_back(range.sub(end, range.size - end));
    annotate::permit(range.sub(front, bytes));
    return range.sub(front, bytes);
}

bool SystemAllocator::is_cached(MemoryBlock range) const noexcept {
    const auto* const end = books_.cache.data() + books_.cached;
    for (HeldRange* each = books_.held_back; each != nullptr; each = each->next) {
        if (range.overlaps({reinterpret_cast<std::byte*>(each), each->bytes})) return true;
    }
    return std::any_of(books_.cache.data(), end, [&](MemoryBlock kept) { return kept.overlaps(range); });
}

bool SystemAllocator::keep(MemoryBlock range) noexcept {
    // One range must not drive out all the others.
    const bool fits = range.size <= cache_bytes_ / 4;
    if (!fits || books_.cached == kMaxCached || books_.cached_bytes + range.size > cache_bytes_) return false;
    books_.cache[books_.cached++] = range;
    books_.cached_bytes += range.size;
    annotate::forbid(range);
    return true;
}

// Returns how many bytes the system took.
std::size_t SystemAllocator::release_range(MemoryBlock range) noexcept {
    // Whoever maps something there later knows nothing of us.
    annotate::permit_written(range);
    {
        // Before the system may give the addresses to another thread.
        const Lock lock(lock_);
        pages_.remove(range);
    }
    if (os::release(range)) return range.size;
    // The system has no room to note the hole: the addresses stay ours, without memory.
    (void)os::discard(range);
    const Lock lock(lock_);
    // The map has held these pages and has their place still.
    (void)pages_.add(range);
    hold_back(range);
    publish();
    return 0;
}

// Of a range that was never handed out and may have no memory to note anything in.
void SystemAllocator::release_unused(MemoryBlock range) noexcept {
    if (os::release(range)) return;
    const Lock lock(lock_);
    books_.lost_bytes += range.size;
    publish();
}

std::size_t SystemAllocator::trim() noexcept {
    return is_sealed() ? 0 : release_kept();
}

// Returns how many bytes the system took; the others are kept on.
std::size_t SystemAllocator::release_kept() noexcept {
    std::array<MemoryBlock, kMaxCached> kept;
    std::size_t count = 0;
    HeldRange* held_back = nullptr;
    {
        const Lock lock(lock_);
        held_back = std::exchange(books_.held_back, nullptr);
        count = std::exchange(books_.cached, 0);
        books_.cached_bytes = 0;
        books_.held_back_bytes = 0;
        kept = books_.cache;
        publish();
    }
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i)
        bytes += release_range(kept[i]);
    while (held_back != nullptr) {
        const MemoryBlock range{reinterpret_cast<std::byte*>(held_back), held_back->bytes};
        held_back = held_back->next;
        bytes += release_range(range);
    }
    return bytes;
}

}  // namespace ouro
