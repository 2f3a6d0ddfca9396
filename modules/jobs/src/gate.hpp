#pragma once

#include "patience.hpp"

#include <atomic>
#include <cstdint>

namespace ouro::detail {

// The door of something that is shared out by one owner after another: whoever wants to take part joins and
// leaves; the owner closes it and waits until everybody has left. What was written before open is visible to
// who joins, and what was written before leave is visible to the owner.
class Gate {
public:
    void open() noexcept { word_.store(kOpen, std::memory_order_release); }
    // By the owner, who opened it.
    void close_and_wait(Patience& patience) noexcept;

    // A guess, true or false for a moment.
    [[nodiscard]] bool is_open() const noexcept {
        return (word_.load(std::memory_order_acquire) & kOpen) != 0;
    }
    // False when it is closed.
    [[nodiscard]] bool try_join() noexcept;
    void leave() noexcept;

    // Closed, with nobody inside.
    [[nodiscard]] bool is_at_rest() const noexcept { return word_.load(std::memory_order_acquire) == 0; }

private:
    // Whether it is open, whether the owner sleeps, and how many are inside.
    static constexpr std::uint32_t kOpen = std::uint32_t{1} << 31;
    static constexpr std::uint32_t kOwnerSleeps = std::uint32_t{1} << 30;
    static constexpr std::uint32_t kInside = kOwnerSleeps - 1;

    void sleep_until_empty() noexcept;

    std::atomic<std::uint32_t> word_{0};
};

}  // namespace ouro::detail
