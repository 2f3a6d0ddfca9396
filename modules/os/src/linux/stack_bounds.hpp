#pragma once

#include <cstdint>

namespace ouro::os {

// Addresses that hold the frames of one stack: surely mapped when they were looked up. A thread's own stack
// stays as long as the thread; one that somebody else made, and cut at its upper end since, is taken for what
// it was.
struct StackBounds {
    std::uintptr_t low = 0;
    std::uintptr_t high = 0;

    [[nodiscard]] bool contain(std::uintptr_t address) const noexcept {
        return address >= low && address < high;
    }
};

// Those of the stack that the calling thread runs on, of which the address is one; empty when they cannot be
// found. Remembered for each thread: a lookup for each stack it runs on, then a comparison. Neither allocates
// nor locks.
[[nodiscard]] StackBounds bounds_around(std::uintptr_t address) noexcept;

}  // namespace ouro::os
