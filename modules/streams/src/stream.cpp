#include "table_slots.hpp"

#include <ouro/memory/seal.hpp>
#include <ouro/os/virtual_memory.hpp>
#include <ouro/streams/stream.hpp>

#include <algorithm>

namespace ouro {

void Stream::close() noexcept {
    if (slot_ != nullptr) detail::close_slot(*slot_);
    slot_ = nullptr;
}

Expected<void> Stream::grow(std::size_t bytes) noexcept {
    detail::StreamSlot& own = slot();
    if (bytes <= own.committed_bytes) return {};
    if (bytes > own.range.size) return refuse(Status::capacity_exhausted, bytes);
    if (const Status growth = check_unsealed(); growth != Status::ok) return refuse(growth, bytes);
    const std::size_t least = std::max(bytes - own.committed_bytes, own.step_bytes);
    const std::size_t room = own.range.size - own.committed_bytes;
    const std::size_t more = least < room ? align_up(least, os::page_size()) : room;
    const MemoryBlock fresh = own.range.sub(own.committed_bytes, more);
    if (const auto committed = os::commit(fresh); !committed) return refuse(committed.status(), bytes);
    if (own.is_told) annotate::forbid(fresh);
    own.committed_bytes += more;
    publish();
    return {};
}

Expected<void> Stream::prewarm(std::size_t bytes) noexcept {
    if (bytes == 0) return {};
    if (const auto grown = grow(bytes); !grown) return grown;
    const MemoryBlock wanted = slot().range.sub(0, align_up(bytes, os::page_size()));
    const auto done = os::prefault(wanted);
    return done ? done : refuse(done.status(), bytes);
}

void Stream::shrink(std::size_t bytes) noexcept {
    // Under a seal what is given back could not be had again.
    if (is_sealed() || bytes >= slot().committed_bytes) return;
    // When the system refuses, the memory simply stays.
    static_cast<void>(drop_behind(std::max(bytes, slot().cursor_bytes)));
}

Expected<void> Stream::drop_behind(std::size_t bytes) noexcept {
    detail::StreamSlot& own = slot();
    OURO_ASSERT(bytes >= own.cursor_bytes, "what lies before the cursor is in use");
    if (bytes >= own.committed_bytes) return {};
    const std::size_t kept = align_up(bytes, os::page_size());
    if (kept >= own.committed_bytes) return {};
    const MemoryBlock gone = own.range.sub(kept, own.committed_bytes - kept);
    if (const auto done = os::decommit(gone); !done) return done;
    // Whoever maps something here later knows nothing of us.
    annotate::permit_written(gone);
    own.committed_bytes = kept;
    publish();
    return {};
}

Expected<MemoryBlock> Stream::take_slow(std::size_t size, std::size_t alignment) noexcept {
    if (size == 0) return Status::zero_size;
    if (!is_alignment(alignment)) return Status::bad_alignment;
    detail::StreamSlot& own = slot();
    const auto base = reinterpret_cast<std::uintptr_t>(own.range.data);
    const auto start = checked_align_up(base + own.cursor_bytes, alignment);
    const auto end = start ? checked_add<std::size_t>(*start - base, size) : start;
    if (!end) return refuse(end.status(), size);
    if (const auto grown = grow(*end); !grown) return grown.status();
    const MemoryBlock block = hand_out(*start - base, size);
    publish();
    return block;
}

void Stream::note_cursor(std::size_t cursor_bytes, std::size_t high_water_bytes) noexcept {
    detail::StreamSlot& own = slot();
    own.cursor_bytes = cursor_bytes;
    own.high_water_bytes = std::max({own.high_water_bytes, cursor_bytes, high_water_bytes});
}

void Stream::note_mapped(std::size_t committed_bytes, std::size_t cursor_bytes) noexcept {
    OURO_ASSERT(committed_bytes <= slot().range.size && cursor_bytes <= committed_bytes,
                "what is mapped over a stream lies in it");
    slot().committed_bytes = committed_bytes;
    note_cursor(cursor_bytes, cursor_bytes);
    publish();
}

void Stream::note_use(std::size_t bytes) noexcept {
    detail::StreamSlot& own = slot();
    note_cursor(bytes, bytes);
    own.listing.update_silently(own.committed_bytes, bytes, own.high_water_bytes);
    // The sum of the table follows when this makes a difference there.
    constexpr std::size_t kNoticed = 16;
    const std::size_t told = own.published_cursor_bytes;
    const std::size_t change = bytes > told ? bytes - told : told - bytes;
    if (change > own.range.size / kNoticed) publish();
}

Status Stream::refuse(Status status, std::size_t wanted_bytes) noexcept {
    detail::StreamSlot& own = slot();
    own.last_refusal = {.status = status,
                        .name_text = own.name,
                        .wanted_bytes = wanted_bytes,
                        .reserved_bytes = own.range.size,
                        .committed_bytes = own.committed_bytes};
    const detail::WordLockScope scope(own.table->changing);
    detail::note_refusal(*own.table, own.last_refusal);
    return status;
}

void Stream::tell_sanitizers() noexcept {
    detail::StreamSlot& own = slot();
    own.is_told = true;
    annotate::forbid(own.range.sub(own.cursor_bytes, own.committed_bytes - own.cursor_bytes));
}

void Stream::publish() noexcept {
    detail::publish_slot(slot());
}

}  // namespace ouro
