#pragma once

#include <ouro/ecs/detail/past_rows.hpp>
#include <ouro/ecs/detail/row_filter.hpp>
#include <ouro/ecs/detail/world_core.hpp>

#include <cstdint>

namespace ouro::detail {

// What SinceFilter is for the present: which rows of an archetype had a component that changed, or came, in a
// tick or later. The past's own tick is the last one that was committed; where there are marks of the next
// one, the ring ended that without the world. The type of a past world is an argument, because its header
// includes those of its queries.
template <class Past>
class PastSince {
public:
    PastSince(const Past& past, const ArchetypeRecord& archetype, unsigned column,
              std::uint32_t since) noexcept
        : past_(past), archetype_(archetype), column_(column), now_(last_tick()), age_(now_ - since) {
        if (age_ <= 1) return;
        if (age_ > WorldCore::kAgingTicks || now_ - archetype.added_tick <= age_) {
            changed_blocks_ = kMaxBlocks;
            return;
        }
        for (std::uint32_t number = archetype.block_count; number != 0; --number) {
            if (now_ - block(number - 1).tick > age_) continue;
            changed_blocks_ = number;
            return;
        }
    }

    // Of 64 rows of a block.
    [[nodiscard]] std::uint64_t word(std::uint32_t number, std::uint32_t begin) const noexcept {
        if (age_ > 1) return number < changed_blocks_ ? ~std::uint64_t{0} : 0;
        const bool only_now = age_ == 0;
        return past_changed(past_.view(), block(number), rows_of_block(number), begin, now_, only_now) |
               rows_that_came(archetype_, now_, only_now, first_row_of_block(number) + begin);
    }

private:
    [[nodiscard]] std::uint32_t last_tick() const noexcept {
        const std::uint32_t next = past_.header().tick;
        bool goes_on = archetype_.added_tick == next;
        for (std::uint32_t number = 0; number < archetype_.block_count; ++number)
            goes_on = goes_on || block(number).tick == next;
        return goes_on ? next : next - 1;
    }
    [[nodiscard]] BlockColumn block(std::uint32_t number) const noexcept {
        return past_.block_column(archetype_, number, column_ - 1);
    }

    const Past& past_;
    const ArchetypeRecord& archetype_;
    unsigned column_;
    std::uint32_t now_;
    std::uint32_t age_;
    // Those before it.
    std::uint32_t changed_blocks_ = 0;
};

}  // namespace ouro::detail
