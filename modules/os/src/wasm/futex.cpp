#include "thread.h"

#include <ouro/os/futex.hpp>

#include <limits>

namespace ouro::os {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4);

std::uint32_t* address_of(const std::atomic<std::uint32_t>& word) noexcept {
    // Neither waiting nor waking writes to it.
    return const_cast<std::uint32_t*>(reinterpret_cast<const std::uint32_t*>(&word));
}

}  // namespace

WaitOutcome wait_on(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                    std::uint64_t timeout_ns) noexcept {
    constexpr auto kLongest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const std::int64_t limit = timeout_ns <= kLongest ? static_cast<std::int64_t>(timeout_ns) : -1;
    switch (ouro_wasm_wait32(address_of(word), expected, limit)) {
        case 1:
            return WaitOutcome::changed;
        case 2:
            return WaitOutcome::timed_out;
        default:
            return WaitOutcome::woken;
    }
}

unsigned wake_one(const std::atomic<std::uint32_t>& word) noexcept {
    return ouro_wasm_notify(address_of(word), 1);
}

unsigned wake_all(const std::atomic<std::uint32_t>& word) noexcept {
    return ouro_wasm_notify(address_of(word), std::numeric_limits<std::uint32_t>::max());
}

}  // namespace ouro::os
