#pragma once

#include <ouro/base/status.hpp>
#include <ouro/memory/tag.hpp>
#include <ouro/observe/detail/block_trailer.hpp>
#include <ouro/observe/detail/ledger_layout.hpp>
#include <ouro/observe/detail/owner_words.hpp>
#include <ouro/observe/detail/sample_clock.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

// The ways into the ledger that every allocation and every free takes.
namespace ouro::detail {

// A tag in the two forms that an allocation needs: what is written behind the block, and where a shard counts
// it.
struct ChargedTag {
    constexpr ChargedTag() noexcept : ChargedTag(Tag{}) {}
    constexpr explicit ChargedTag(Tag tag) noexcept
        : trailer(tag),
          cell_offset(
              static_cast<std::uint32_t>(offsetof(LedgerShard, cells) + tag.id() * sizeof(LedgerCell))) {}

    BlockTrailer trailer;
    std::uint32_t cell_offset;
};

// What each call needs of its thread, in one place.
struct LedgerThread {
    // What allocations are for now.
    ChargedTag tag;
    // Null before the thread's first slow work, after its end, and always where threads share.
    LedgerShard* shard = nullptr;
};
[[gnu::tls_model("initial-exec")]] inline constinit thread_local LedgerThread t_ledger;

[[nodiscard]] inline LedgerCell& cell_at(LedgerShard& shard, std::size_t offset) noexcept {
    auto* place = reinterpret_cast<std::byte*>(&shard) + offset;
    // One register for the cell: processors are quicker to forward what was just stored there.
    asm("" : "+r"(place));
    return *reinterpret_cast<LedgerCell*>(place);
}

// What became of a charge, in one word: most are plain.
class Charge {
public:
    constexpr Charge() noexcept = default;
    constexpr explicit Charge(Status status) noexcept : word_(static_cast<std::uint32_t>(status)) {}
    // Charged, and the profiler wants to see the block.
    [[nodiscard]] static constexpr Charge sampled() noexcept { return Charge(kSampledBit); }
    // Not charged yet: the thread's credit does not suffice.
    [[nodiscard]] static constexpr Charge deferred() noexcept { return Charge(kDeferredBit); }

    [[nodiscard]] constexpr bool is_plain() const noexcept { return word_ == 0; }
    [[nodiscard]] constexpr bool is_sampled() const noexcept { return word_ == kSampledBit; }
    [[nodiscard]] constexpr bool is_deferred() const noexcept { return word_ == kDeferredBit; }
    [[nodiscard]] constexpr Status status() const noexcept {
        return static_cast<Status>(word_ & (kSampledBit - 1));
    }

private:
    static constexpr std::uint32_t kSampledBit = 0x100;
    static constexpr std::uint32_t kDeferredBit = 0x200;

    constexpr explicit Charge(std::uint32_t word) noexcept : word_(word) {}

    std::uint32_t word_ = 0;
};

// Out of line, so that the way of the others is straight.
[[gnu::cold, gnu::noinline]] Charge sampled_charge() noexcept;
[[gnu::cold, gnu::noinline]] Charge deferred_charge() noexcept;
[[gnu::cold, gnu::noinline]] Status charge_slow(Tag tag, std::size_t bytes) noexcept;
[[gnu::cold, gnu::noinline]] void refund_slow(Tag tag, std::size_t bytes) noexcept;
// Gives credit back beyond what the thread may keep.
[[gnu::cold, gnu::noinline]] void settle_slow(Tag tag) noexcept;

// Between taking or adding something and looking whether it may stay so. The compiler keeps the order; the
// processor is kept to it by the process barrier of whoever revokes.
inline void taken_then_look() noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

// For a new block, out of the thread's credit or not at all. Requires: a registered tag.
[[nodiscard]] inline Charge charge_credit(ChargedTag tag, std::size_t bytes) noexcept {
    LedgerShard* const shard = t_ledger.shard;
    if (shard == nullptr) [[unlikely]]
        return deferred_charge();
    LedgerCell& cell = cell_at(*shard, tag.cell_offset);
    const std::int64_t before = cell.allocated.load(std::memory_order_relaxed);
    // Without a sign: a size beyond reason may wrap around, and is sorted out below.
    const std::uint64_t allocated = static_cast<std::uint64_t>(before) + bytes;
    cell.allocated.store(static_cast<std::int64_t>(allocated), std::memory_order_relaxed);
    taken_then_look();
    const auto allowance = static_cast<std::uint64_t>(cell.allowance.load(std::memory_order_relaxed));
    const auto lead = static_cast<std::int64_t>(allowance - allocated);
    const bool is_plain = bytes <= SIZE_MAX / 4;
    if (!is_plain || is_below(lead, cell.floor)) [[unlikely]] {
        cell.allocated.store(before, std::memory_order_relaxed);
        return deferred_charge();
    }
    add_to(cell.allocations, 1U);
    if (count_down(shard->samples, bytes)) [[unlikely]]
        return sampled_charge();
    return {};
}

// The memory of a slow charge or of a growth of so many bytes is there: only now it counts for the peak, and
// for the bounds that somebody wants to hear of. What comes out of credit never makes a new peak.
[[gnu::cold, gnu::noinline]] void confirm_slow(Tag tag, std::size_t bytes) noexcept;

// For a block that is there already, with slow work where it takes some: ok, budget_exceeded or rate_limited,
// which then count as failures of the tag.
[[nodiscard]] inline Charge charge(ChargedTag tag, std::size_t bytes) noexcept {
    const Charge charged = charge_credit(tag, bytes);
    if (!charged.is_deferred()) return charged;
    const Status status = charge_slow(tag.trailer.tag(), bytes);
    if (status == Status::ok) confirm_slow(tag.trailer.tag(), bytes);
    return Charge(status);
}

// For a block that goes, charged on this thread or another. Requires: a registered tag.
inline void refund(ChargedTag tag, std::size_t bytes) noexcept {
    LedgerShard* const shard = t_ledger.shard;
    if (shard == nullptr) [[unlikely]]
        return refund_slow(tag.trailer.tag(), bytes);
    LedgerCell& cell = cell_at(*shard, tag.cell_offset);
    const std::int64_t allowance =
        cell.allowance.load(std::memory_order_relaxed) + static_cast<std::int64_t>(bytes);
    cell.allowance.store(allowance, std::memory_order_relaxed);
    add_to(cell.frees, 1U);
    taken_then_look();
    if (is_above(allowance - cell.allocated.load(std::memory_order_relaxed), cell.ceiling)) [[unlikely]]
        settle_slow(tag.trailer.tag());
}

// For a block that grows, to be confirmed, or shrinks.
[[nodiscard, gnu::cold]] Status charge_growth(Tag tag, std::size_t bytes) noexcept;
[[gnu::cold]] void refund_shrinkage(Tag tag, std::size_t bytes) noexcept;

// Take back a charge whose memory could not be had, as if it had not been made: one out of credit, a slow
// one, or a growth.
[[gnu::cold]] void uncharge_credit(Tag tag, std::size_t bytes) noexcept;
[[gnu::cold]] void uncharge_slow(Tag tag, std::size_t bytes) noexcept;
[[gnu::cold]] void uncharge_growth(Tag tag, std::size_t bytes) noexcept;
[[gnu::cold]] void count_failure(Tag tag, Status status) noexcept;

}  // namespace ouro::detail
