#pragma once

#include <ouro/streams/image_owner.hpp>

#include <cstdint>
#include <string_view>

namespace ouro::detail {

// What a byte of a world's segment is, in words: a SegmentOwnerFunction. False where there is no world, or
// where the byte is none of its own, such as free memory of its heap. It believes nothing that it reads.
bool find_world_owner(std::string_view segment, ConstOffsetBase base, std::uint64_t offset,
                      ImageOwner& owner);

}  // namespace ouro::detail
