#include "page_copy.hpp"

#include <ouro/streams/state_page.hpp>

#include <cstring>

namespace ouro::detail {

void store_page(std::byte* version, const std::byte* page) noexcept {
    std::memcpy(version, page, kStatePageBytes);
}

void finish_stores() noexcept {}

}  // namespace ouro::detail
