#pragma once

namespace ouro::detail {

// Whether os::release takes neighbouring ranges in one piece that were not reserved in one piece.
[[nodiscard]] bool can_release_together() noexcept;

}  // namespace ouro::detail
