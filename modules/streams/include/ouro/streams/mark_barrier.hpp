#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/memory/write_barrier.hpp>
#include <ouro/streams/dirty_map.hpp>

#include <cstddef>

namespace ouro {

// Declares what is written to the image of a StateRing. Refers to the map, which outlives it.
class MarkBarrier {
public:
    explicit constexpr MarkBarrier(DirtyMap& marks) noexcept : marks_(&marks) {}

    // Requires: the bytes are in the image.
    void declare(const void* address, std::size_t bytes) const noexcept {
        [[maybe_unused]] const Status status = marks_->mark(address, bytes);
        OURO_DEBUG_ASSERT(status == Status::ok, "what is declared lies in the image");
    }

    // Whole pages that are zero already stay as they are, and are not declared.
    void clear(std::byte* address, std::size_t bytes) const noexcept;

private:
    DirtyMap* marks_;
};

static_assert(WriteBarrier<MarkBarrier>);

}  // namespace ouro
