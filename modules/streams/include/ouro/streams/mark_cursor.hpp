#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/streams/dirty_map.hpp>
#include <ouro/streams/state_page.hpp>

#include <cstddef>
#include <cstdint>

namespace ouro {

// Declares writes in a loop over neighbours: it remembers the page it marked last, or the line where the ring
// has fine segments, so that most calls are one comparison. For one thread, between two commits: a cursor
// that is older would take pages for marked.
//
//     MarkCursor cursor(ring.marks());
//     for (Position& position : column)
//         cursor.writable(position).x += 1;
class MarkCursor {
public:
    explicit MarkCursor(DirtyMap marks) noexcept : marks_(marks), unit_bytes_(marks.unit_bytes()) {}

    // As DirtyMap::mark.
    Status mark(const void* address, std::size_t bytes) noexcept {
        const std::size_t within = reinterpret_cast<std::uintptr_t>(address) - unit_;
        if (bytes <= unit_bytes_ && within <= unit_bytes_ - bytes) [[likely]]
            return Status::ok;
        return mark_elsewhere(static_cast<const std::byte*>(address), bytes);
    }

    // The object itself, to be written. Requires: it is in the image (assert).
    template <class T>
    [[nodiscard]] T& writable(T& object) noexcept {
        const Status status = mark(&object, sizeof(T));
        OURO_ASSERT(status == Status::ok, "only what is in the image is declared");
        return object;
    }

private:
    [[gnu::noinline]] Status mark_elsewhere(const std::byte* address, std::size_t bytes) noexcept {
        const Status status = marks_.mark(address, bytes);
        // Beyond the last one that all of it touches, nothing is known.
        if (status == Status::ok && bytes != 0)
            unit_ = reinterpret_cast<std::uintptr_t>(marks_.unit_of(address + bytes - 1));
        return status;
    }

    DirtyMap marks_;
    std::size_t unit_bytes_;
    // Where the unit begins that was marked last; far from any image, before.
    std::uintptr_t unit_ = 0;
};

}  // namespace ouro
