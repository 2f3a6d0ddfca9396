#include "page_packing.hpp"

namespace ouro::detail {

std::size_t squeeze(std::span<const std::byte>, std::byte*) noexcept {
    return 0;
}

bool unsqueeze(std::span<const std::byte>, std::span<std::byte>) noexcept {
    return false;
}

}  // namespace ouro::detail
