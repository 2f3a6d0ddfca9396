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

// Makes a peak, and calls so often that the thread has credit below it.
inline void rest_below_a_peak(Tag tag, std::size_t peak) noexcept {
    constexpr std::size_t kCallsToRest = 1'000;
    std::size_t bytes = peak;
    for (std::size_t call = 0; call < kCallsToRest; ++call) {
        if (charge(tag, bytes) == Status::ok) refund(tag, bytes);
        // More than the last one has left.
        bytes = peak / 1000 * (1 + call % 100);
    }
}

}  // namespace ouro::test
