#include <ouro/base/bits.hpp>
#include <ouro/os/reservation.hpp>
#include <ouro/streams/detail/sim_table.hpp>

#include <algorithm>

namespace ouro::detail {
namespace {

// A table that nobody made up to be slow has two or three steps a slot.
constexpr std::uint64_t kStepsPerSlot = 8;

// The index as it is searched: from where a hash leads, one by one, round the end.
class SlotWalk {
public:
    explicit SlotWalk(std::span<const std::uint64_t> slots) noexcept
        : slots_(slots), mask_(static_cast<std::uint32_t>(slots.size() - 1)) {}

    // Between where its hash leads and where a slot is there is no gap. Adds up the steps between.
    [[nodiscard]] bool has_no_gaps(std::uint64_t& steps) const noexcept {
        const auto empty = std::ranges::find(slots_, std::uint64_t{0});
        if (empty == slots_.end()) return false;
        const auto start = static_cast<std::uint32_t>(empty - slots_.begin());
        std::uint32_t filled_before = 0;
        for (std::uint32_t count = 1; count <= mask_; ++count) {
            const std::uint32_t at = (start + count) & mask_;
            if (slots_[at] == 0) {
                filled_before = 0;
                continue;
            }
            const std::uint32_t distance = (at - hash_of_slot(slots_[at])) & mask_;
            if (distance > filled_before++) return false;
            steps += distance;
        }
        return true;
    }

    // No two name one entry: they would have its hash both, and lie on one way.
    [[nodiscard]] bool differ_on_their_way() const noexcept {
        for (std::uint32_t at = 0; at <= mask_; ++at) {
            if (slots_[at] == 0) continue;
            for (std::uint32_t each = hash_of_slot(slots_[at]) & mask_; each != at; each = (each + 1) & mask_)
                if (slots_[each] == slots_[at]) return false;
        }
        return true;
    }

    // The same, however long the ways are. Requires: a bit for each entry, none of them set.
    [[nodiscard]] bool differ(std::span<std::uint64_t> seen) const noexcept {
        for (const std::uint64_t slot : slots_) {
            if (slot == 0) continue;
            std::uint64_t& word = seen[entry_of_slot(slot) / 64];
            const std::uint64_t bit = std::uint64_t{1} << (entry_of_slot(slot) % 64);
            if ((word & bit) != 0) return false;
            word |= bit;
        }
        return true;
    }

private:
    std::span<const std::uint64_t> slots_;
    std::uint32_t mask_;
};

}  // namespace

Status check_slots(std::span<const std::uint64_t> slots, std::uint32_t entries) noexcept {
    const SlotWalk walk(slots);
    std::uint64_t steps = 0;
    if (!walk.has_no_gaps(steps)) return Status::corrupt_data;
    if (steps <= kStepsPerSlot * slots.size())
        return walk.differ_on_their_way() ? Status::ok : Status::corrupt_data;
    const std::size_t words = words_for_bits(entries);
    auto memory = os::Reservation::create({.bytes = words * sizeof(std::uint64_t)});
    if (!memory) return memory.status();
    if (const auto all = memory->commit(0, memory->block().size); !all) return all.status();
    const std::span seen(reinterpret_cast<std::uint64_t*>(memory->block().data), words);
    return walk.differ(seen) ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro::detail
