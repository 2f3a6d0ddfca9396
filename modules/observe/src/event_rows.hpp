#pragma once

#include <ouro/memory/tag.hpp>

namespace ouro::detail {

// A bound was set: the next refusal under the tag or one below it is the first in a row, and is told.
void begin_refusals_anew(Tag top) noexcept;

}  // namespace ouro::detail
