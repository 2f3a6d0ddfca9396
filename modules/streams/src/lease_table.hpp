#pragma once

#include <ouro/base/expected.hpp>

#include <array>
#include <atomic>
#include <cstdint>

namespace ouro::detail {

// Who reads which past tick. Readers on any thread take and end leases; the thread that commits asks which
// ticks it must leave alone. Neither waits for the other.
//
// A lease is taken first and the history looked at afterwards; a tick is given up first and the leases looked
// at afterwards. Both in one order for all threads, so that one of the two always sees the other.
class LeaseTable {
public:
    static constexpr std::uint32_t kReaderCells = 32;
    static constexpr std::uint32_t kMaxKept = 48;
    // Those that are kept, those that a reader is in, and those from which at least two others began, of
    // which there are fewer than of the first two: see RingCore::join_futures.
    static constexpr std::uint32_t kMaxFutures = 2 * (kReaderCells + kMaxKept);

    // Readers of one tick share a cell. A cell outlives the timeline of its tick: `future` names the kept one
    // it belongs to, zero the present one.
    struct Lease {
        std::uint32_t tick = 0;
        std::uint8_t future = 0;
        bool is_held = false;
        // Whoever has it knows that the tick was there.
        bool is_settled = false;
    };

    // How many pages all leases together may keep from being given up.
    void set_quota(std::uint64_t pages) noexcept { quota_pages_ = pages; }

    // The number of a cell: one that is settled, or a fresh one. Fails with capacity_exhausted (too many
    // ticks are read at once) or budget_exceeded (the quota).
    [[nodiscard]] Expected<std::uint32_t> take(std::uint32_t tick, std::uint8_t future,
                                               std::uint32_t pages) noexcept;
    // What was reserved for the cell is known to be enough: others may join. Before, the tick may have been
    // rolled back and be there again with more pages.
    void settle(std::uint32_t cell) noexcept { cells_[cell].fetch_or(kSettled, std::memory_order_relaxed); }
    void end(std::uint32_t cell) noexcept {
        if (leave(cell)) give_back(cell);
    }
    // One reader more, whoever it is for; false when there is none. For the thread that commits, which keeps
    // a view from ending by it.
    [[nodiscard]] bool hold(std::uint32_t cell) noexcept;
    // As end(), in two steps. True for the last one: nobody holds the cell any more, and nobody can take it
    // before it is given back, with whatever was there for it.
    [[nodiscard]] bool leave(std::uint32_t cell) noexcept;
    void give_back(std::uint32_t cell) noexcept;

    // A kept future reads the tick at which it begins, in a cell of its own, with or without a share of the
    // quota. For the thread that commits.
    [[nodiscard]] static std::uint32_t cell_of(std::uint8_t future) noexcept {
        return kReaderCells + future - 1;
    }
    [[nodiscard]] bool reserve(std::uint32_t pages) noexcept;
    void unreserve(std::uint32_t pages) noexcept {
        reserved_pages_.fetch_sub(pages, std::memory_order_relaxed);
    }
    void take_for(std::uint8_t future, std::uint32_t tick, std::uint32_t reserved_pages) noexcept;

    // Sets pages aside that the holder of a lease may have unpacked; once for each cell. False when that is
    // more than there are.
    void set_unpacked_quota(std::uint64_t pages) noexcept { unpacked_quota_ = pages; }
    [[nodiscard]] bool set_aside(std::uint32_t cell, std::uint32_t pages) noexcept;
    [[nodiscard]] bool is_set_aside(std::uint32_t cell) const noexcept {
        return unpacked_[cell].load(std::memory_order_seq_cst) != 0;
    }

    [[nodiscard]] Lease lease(std::uint32_t cell) const noexcept;
    [[nodiscard]] bool is_any_held() const noexcept { return held_.load(std::memory_order_seq_cst) != 0; }
    // Of readers, not of futures.
    [[nodiscard]] bool has_readers() const noexcept;
    // True for any lease in the timeline of which `is_wanted(lease, holder)` is true; the holder is a future,
    // or zero for readers.
    template <class IsWanted>
    [[nodiscard]] bool any_of(std::uint8_t timeline, IsWanted&& is_wanted) const noexcept {
        return any_cell([&](const Lease& each, std::uint32_t index) {
            if (!each.is_held || each.future != timeline) return false;
            const std::uint32_t holder = index < kReaderCells ? 0 : index - kReaderCells + 1;
            return is_wanted(each, static_cast<std::uint8_t>(holder));
        });
    }
    // The oldest tick that is read in the present timeline; the given one when all are newer.
    [[nodiscard]] std::uint32_t oldest_or(std::uint32_t tick) const noexcept;
    [[nodiscard]] std::uint32_t newest_or(std::uint32_t tick) const noexcept;
    [[nodiscard]] bool reads_future(std::uint8_t future) const noexcept;

    // Counts what may leave versions in a future that nobody reads any more.
    [[nodiscard]] std::uint32_t future_ends() const noexcept {
        return future_ends_.load(std::memory_order_seq_cst);
    }
    // The one future has the lease of the other from now on, and the other none.
    void hand_over(std::uint8_t from, std::uint8_t to) noexcept;

    // The leases on ticks behind this one belong to the given kept future from now on.
    void move_behind(std::uint32_t tick, std::uint8_t future) noexcept;

    [[nodiscard]] std::uint64_t pages_reserved() const noexcept {
        return reserved_pages_.load(std::memory_order_relaxed);
    }

private:
    // Tick in the upper half, then how many readers, whether it is settled, and the future. Zero: free to be
    // taken.
    using Cell = std::atomic<std::uint64_t>;
    static constexpr unsigned kTickShift = 32;
    static constexpr unsigned kCountShift = 9;
    static constexpr std::uint64_t kOneReader = std::uint64_t{1} << kCountShift;
    static constexpr std::uint64_t kReaders = 0xfffffe00U;
    static constexpr std::uint64_t kSettled = 0x100;
    static_assert(kMaxFutures < kSettled);
    // No reader is left, and what the last one had is not all given back yet.
    static constexpr std::uint64_t kEnding = 1;

    static Lease unpack(std::uint64_t value) noexcept {
        return {.tick = static_cast<std::uint32_t>(value >> kTickShift),
                .future = static_cast<std::uint8_t>(value & (kSettled - 1)),
                .is_held = (value & kReaders) != 0,
                .is_settled = (value & kSettled) != 0};
    }
    [[nodiscard]] bool join(Cell& cell, std::uint32_t tick, std::uint8_t future) noexcept;
    static std::uint64_t pack(std::uint32_t tick, std::uint8_t future) noexcept {
        return std::uint64_t{tick} << kTickShift | kOneReader | future;
    }
    static constexpr std::uint32_t kCells = kReaderCells + kMaxFutures;

    // Stops at the first of which `visit(lease, index)` is true. Readers first: when a lease of theirs was
    // moved into a future, that has a cell by then.
    template <class Visit>
    bool any_cell(Visit&& visit) const noexcept {
        for (std::uint32_t index = 0; index < kReaderCells; ++index)
            if (visit(lease(index), index)) return true;
        const std::uint32_t end = cell_end_.load(std::memory_order_seq_cst);
        for (std::uint32_t index = kReaderCells; index < end; ++index)
            if (visit(lease(index), index)) return true;
        return false;
    }

    std::array<Cell, kCells> cells_{};
    std::array<std::atomic<std::uint32_t>, kCells> cell_pages_{};
    std::array<std::atomic<std::uint32_t>, kReaderCells> unpacked_{};
    std::atomic<std::uint64_t> reserved_pages_ = 0;
    std::atomic<std::uint64_t> set_aside_pages_ = 0;
    std::atomic<std::uint32_t> held_ = 0;
    std::atomic<std::uint32_t> future_ends_ = 0;
    // Behind every cell that a future ever had.
    std::atomic<std::uint32_t> cell_end_ = kReaderCells;
    std::uint64_t quota_pages_ = 0;
    std::uint64_t unpacked_quota_ = 0;
};

}  // namespace ouro::detail
