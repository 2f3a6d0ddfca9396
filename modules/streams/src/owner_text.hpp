#pragma once

#include "listing_writer.hpp"

#include <ouro/memory/tlsf_heap.hpp>
#include <ouro/streams/image_owner.hpp>

#include <cstddef>
#include <cstdint>

namespace ouro::detail {

// As describe_owner().
void write_owner(ListingWriter& writer, const ImageOwner& owner, std::uint64_t offset) noexcept;

// What a heap says of an address, in terms of the image that it lies in.
[[nodiscard]] inline ImageOwner owner_of_place(const TlsfHeap::Place& place,
                                               const std::byte* image) noexcept {
    const OwnerKind kind = place.kind == TlsfHeap::PlaceKind::control ? OwnerKind::heap_records
                           : place.kind == TlsfHeap::PlaceKind::free  ? OwnerKind::free_memory
                                                                      : OwnerKind::heap_memory;
    return {.kind = kind,
            .name = {},
            .offset = static_cast<std::uint64_t>(place.range.data - image),
            .bytes = place.range.size};
}

}  // namespace ouro::detail
