#include "page_copy.hpp"

#include <ouro/base/hash.hpp>
#include <ouro/streams/state_page.hpp>

#include <cstring>

namespace ouro::detail {

void restore_page(std::byte* page, const std::byte* version) noexcept {
    std::memcpy(page, version, kStatePageBytes);
}

void clear_page(std::byte* page) noexcept {
    std::memset(page, 0, kStatePageBytes);
}

bool is_same_page(const std::byte* one, const std::byte* other) noexcept {
    return std::memcmp(one, other, kStatePageBytes) == 0;
}

bool is_zero_page(const std::byte* page) noexcept {
    std::uint64_t first = 0;
    std::memcpy(&first, page, sizeof(first));
    // A page that is zero equals itself one word on.
    return first == 0 && std::memcmp(page, page + sizeof(first), kStatePageBytes - sizeof(first)) == 0;
}

std::uint64_t hash_page(const std::byte* page, std::uint32_t number) noexcept {
    return is_zero_page(page) ? 0 : hash_bytes(page, kStatePageBytes, number);
}

}  // namespace ouro::detail
