#pragma once

#include <atomic>
#include <cstdint>

// Sleeping until a 32-bit word changes: futex(2) on Linux, memory.atomic.wait32 in wasm32. The word is
// private to the process. A browser's main thread may not sleep; call wait from workers only there.
namespace ouro::os {

enum class WaitOutcome : unsigned char {
    // Woken, by a wake or spuriously: look at the word again.
    woken,
    // The word did not hold the expected value; nobody slept.
    changed,
    timed_out,
};

inline constexpr std::uint64_t kForever = ~std::uint64_t{0};

// Sleeps while the word holds `expected`, until a wake or until the time is over.
WaitOutcome wait_on(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                    std::uint64_t timeout_ns = kForever) noexcept;

// Wake one sleeper, or all; returns how many were woken.
unsigned wake_one(const std::atomic<std::uint32_t>& word) noexcept;
unsigned wake_all(const std::atomic<std::uint32_t>& word) noexcept;

}  // namespace ouro::os
