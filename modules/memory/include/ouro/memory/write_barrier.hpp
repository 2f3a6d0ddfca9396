#pragma once

#include <cstddef>
#include <cstring>

namespace ouro {

// Told of every write before it happens: for structures that lie in memory whose changes somebody follows.
// Small, and handed on by value. `clear` makes a range zero, declaring what that changes.
template <class Barrier>
concept WriteBarrier = requires(const Barrier barrier, std::byte* address, std::size_t bytes) {
    barrier.declare(address, bytes);
    barrier.clear(address, bytes);
};

// For memory that nobody follows. Nothing is left of it in the code.
struct NoWriteBarrier {
    void declare(const void*, std::size_t) const noexcept {}
    void clear(std::byte* address, std::size_t bytes) const noexcept { std::memset(address, 0, bytes); }
};

static_assert(WriteBarrier<NoWriteBarrier>);

}  // namespace ouro
