#pragma once

#include <ouro/ecs/query.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

// How a query visits all rows of its archetypes. These may be many and small: what was found in this epoch is
// not looked for again.
namespace ouro {

template <class... Terms>
template <class Fn, class Cells>
void Query<Terms...>::call_first(Fn& fn, const Cells& cells) noexcept {
    detail::apply_cells(cells, [&](const auto&... each) {
        OURO_FEW_ROWS
        for (std::uint32_t index = 0; index < kFirstBlockRows; ++index)
            Plan::call_row(fn, index, each...);
    });
}

template <class... Terms>
template <class Fn>
void Query<Terms...>::each_whole(Fn& fn) const noexcept {
    const detail::IterationScope scope(*core_);
    const detail::WorldCore& core = *core_;
    const std::uint64_t epoch = core_->marks().epoch();
    const std::size_t count = core_->matches_of(*cache_).size();
    const detail::ReadyMatch* const end = cache_->ready + count;
    for (const detail::ReadyMatch* match = cache_->ready; match != end; ++match) {
        const ArchetypeRecord& archetype = core.archetypes()[match->archetype];
        const std::uint32_t rows = archetype.row_count;
        std::uint32_t first = 0;
        if constexpr (Plan::kIsReadied) {
            if (match->is_ready(epoch)) [[likely]] {
                first = std::min(rows, kFirstBlockRows);
                // There is always one behind the last.
                Plan::prefetch(core, match[1]);
                OURO_DEBUG_ASSERT(Plan::is_changed(core.block(archetype, 0),
                                                   cache_->matches[match - cache_->ready], core.now()),
                                  "what counted as changed as a whole counts so until the tick ends");
                // A number that the compiler knows makes the shorter loop.
                if (rows >= kFirstBlockRows)
                    call_first(fn, Plan::ready_cells(core, *match));
                else
                    call(fn, Plan::ready_cells(core, *match), 0, rows);
            }
        }
        if (first != rows) [[unlikely]]
            each_block(static_cast<std::size_t>(match - cache_->ready), archetype, first, epoch, fn);
    }
}

template <class... Terms>
template <class Fn>
void Query<Terms...>::each_block(std::size_t at, const ArchetypeRecord& archetype, std::uint32_t first,
                                 std::uint64_t epoch, Fn& fn) const noexcept {
    const detail::QueryMatch& match = cache_->matches[at];
    std::uint32_t left = archetype.row_count - first;
    for (std::uint32_t number = place_of_row(first).block; left != 0; ++number) {
        const std::uint32_t rows = std::min(left, rows_of_block(number));
        const detail::BlockPlace place{core_, core_->block(archetype, number), number};
        // What was ready was declared, and what came since when it came.
        if (first == 0 || !Plan::is_changed(place.columns, match, core_->now()))
            Plan::declare(place, match, 0, rows, rows);
        call(fn, Plan::cells(place, match), 0, rows);
        left -= rows;
    }
    if (Plan::kIsReadied && first == 0)
        cache_->ready[at].make_ready(epoch, match, core_->block(archetype, 0));
}

}  // namespace ouro
