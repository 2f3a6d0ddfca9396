#pragma once

#include <ouro/ecs/detail/row_filter.hpp>
#include <ouro/ecs/query.hpp>

namespace ouro {
namespace detail {

// Which rows of an archetype have a component that changed, or came, in a tick or later. Up to one tick back
// that is known of each row, further back of blocks only.
class SinceFilter {
public:
    SinceFilter(WorldCore& core, const ArchetypeRecord& archetype, unsigned column,
                std::uint32_t since) noexcept
        : core_(core), archetype_(archetype), column_(column), age_(core.now() - since) {
        if (age_ <= 1) return;
        // A tick that lies ahead was one of a future that was left, or is too old for the marks.
        const bool knows_nothing = age_ > WorldCore::kAgingTicks;
        // Who came when is known of the last two ticks only.
        if (knows_nothing || core.now() - archetype.added_tick <= age_) {
            changed_blocks_ = kMaxBlocks;
            return;
        }
        // A row that takes the place of one that goes comes from the end, and without marks when it changed
        // long ago: what changed in a block may by now lie in any before it.
        for (std::uint32_t number = archetype.block_count; number != 0; --number) {
            if (core.now() - block(number - 1).tick > age_) continue;
            changed_blocks_ = number;
            return;
        }
    }

    // Calls with the runs of rows of a block that pass.
    template <class Visit>
    void visit_runs(std::uint32_t number, std::uint32_t rows, Visit&& visit) const noexcept {
        if (age_ > 1) {
            if (number < changed_blocks_) visit(0, rows);
            return;
        }
        const bool only_now = age_ == 0;
        const ChangePlanes planes = core_.planes(block(number), rows_of_block(number));
        const std::uint32_t came = first_that_came(archetype_, core_.now(), only_now);
        const std::uint32_t first = first_row_of_block(number);
        const RowFilter filter(only_now ? planes.changed_now_bits() : planes.changed_bits(),
                               came == UINT32_MAX ? came : came - std::min(came, first));
        if (filter.is_closed(rows)) return;
        visit_set_runs(0, rows, [&](std::uint32_t word) { return filter.word(word); }, visit);
    }

private:
    [[nodiscard]] BlockColumn& block(std::uint32_t number) const noexcept {
        return core_.block(archetype_, number)[column_ - 1];
    }

    WorldCore& core_;
    const ArchetypeRecord& archetype_;
    unsigned column_;
    std::uint32_t age_;
    // Those before it.
    std::uint32_t changed_blocks_ = 0;
};

}  // namespace detail

template <class... Terms>
template <class T, class Visit>
void Query<Terms...>::visit_changed_since(std::uint32_t since, Visit&& visit) const noexcept {
    detail::require_since<T, Terms...>();
    const detail::IterationScope scope(*core_);
    const ComponentId id = core_->id_of<T>();
    for (const detail::QueryMatch& match : core_->matches_of(*cache_)) {
        const ArchetypeRecord& archetype = core_->archetype(match.archetype);
        const detail::SinceFilter filter(*core_, archetype, core_->column_of(archetype, id), since);
        std::uint32_t left = archetype.row_count;
        for (std::uint32_t number = 0; left != 0; ++number) {
            const std::uint32_t rows = std::min(left, rows_of_block(number));
            const detail::BlockPlace place{core_, core_->block(archetype, number), number};
            filter.visit_runs(number, rows, [&](std::uint32_t begin, std::uint32_t end) {
                Plan::visit_runs(
                    place, archetype, match, begin, end,
                    [&](std::uint32_t first, std::uint32_t last) { visit(place, match, first, last, rows); });
            });
            left -= rows;
        }
    }
}

template <class... Terms>
template <class T, class Fn>
void Query<Terms...>::each_changed_since(std::uint32_t since, Fn&& fn) const noexcept {
    visit_changed_since<T>(since, [&](const detail::BlockPlace& place, const detail::QueryMatch& match,
                                      std::uint32_t begin, std::uint32_t end, std::uint32_t rows) {
        const auto cells = Plan::cells(place, match);
        Plan::declare(place, match, begin, end, rows);
        call(fn, cells, begin, end);
    });
}

template <class... Terms>
template <class T>
std::uint32_t Query<Terms...>::count_changed_since(std::uint32_t since) const noexcept {
    std::uint32_t total = 0;
    visit_changed_since<T>(since,
                           [&](const detail::BlockPlace&, const detail::QueryMatch&, std::uint32_t begin,
                               std::uint32_t end, std::uint32_t) { total += end - begin; });
    return total;
}

}  // namespace ouro
