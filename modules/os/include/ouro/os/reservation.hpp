#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <cstddef>

namespace ouro::os {

// A reserved range with an owner: released at its end (its memory only, where mappings are too many for
// more). Optional guard pages on both sides are never committed: running over either end faults at once.
class Reservation {
public:
    // As os::reserve. `guard_bytes` are rounded up to pages and lie outside the block; with guards, the
    // alignment and address apply to the block itself.
    [[nodiscard]] static Expected<Reservation> create(const ReserveRequest& request,
                                                      std::size_t guard_bytes = 0) noexcept;

    constexpr Reservation() noexcept = default;
    Reservation(Reservation&& other) noexcept;
    Reservation& operator=(Reservation&& other) noexcept;
    ~Reservation();

    // The usable range, without guards; null after a move.
    [[nodiscard]] MemoryBlock block() const noexcept { return block_; }
    [[nodiscard]] std::size_t guard_bytes() const noexcept { return guard_bytes_; }

    // As os::commit and os::decommit on a part of the block; out_of_range when the part is not inside it.
    Expected<void> commit(std::size_t offset, std::size_t bytes) noexcept;
    Expected<void> decommit(std::size_t offset, std::size_t bytes) noexcept;

private:
    Reservation(MemoryBlock whole, MemoryBlock block, std::size_t guard_bytes) noexcept
        : whole_(whole), block_(block), guard_bytes_(guard_bytes) {}

    [[nodiscard]] Expected<MemoryBlock> part(std::size_t offset, std::size_t bytes) const noexcept;

    MemoryBlock whole_;
    MemoryBlock block_;
    std::size_t guard_bytes_ = 0;
};

}  // namespace ouro::os
