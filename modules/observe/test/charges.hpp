#pragma once

#include <ouro/observe/detail/ledger_paths.hpp>

#include <cstddef>

namespace ouro::test {

// What an allocation and a free of so many bytes tell the ledger.
inline Status charge(Tag tag, std::size_t bytes) noexcept {
    return detail::charge(detail::ChargedTag(tag), bytes).status();
}
inline void refund(Tag tag, std::size_t bytes) noexcept {
    detail::refund(detail::ChargedTag(tag), bytes);
}

}  // namespace ouro::test
