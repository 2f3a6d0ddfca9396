#pragma once

#include <ouro/memory/rate_limit.hpp>
#include <ouro/memory/tag.hpp>

namespace ouro::detail {

// The tag's own. Outside of the image: it holds the address of a clock.
[[nodiscard]] RateGate& rate_gate(Tag tag) noexcept;

}  // namespace ouro::detail
