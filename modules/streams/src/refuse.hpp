#pragma once

#include <ouro/streams/ring_refusal.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace ouro::detail {

// Notes why something was refused, and returns the status.
inline Status refuse(RingRefusal& why, Status status, RingFault fault, std::string_view segment = {},
                     std::uint64_t value = 0, std::uint64_t bound = 0) noexcept {
    why.status = status;
    why.fault = fault;
    why.segment_text = {};
    std::copy_n(segment.data(), std::min(segment.size(), why.segment_text.size() - 1),
                why.segment_text.data());
    why.value = value;
    why.bound = bound;
    return status;
}

}  // namespace ouro::detail
