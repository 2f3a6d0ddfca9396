#pragma once

#include <ouro/ecs/query.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

// How a query's rows are shared out: in words of 64 rows, counted through all blocks.
namespace ouro {

template <class... Terms>
template <class Body>
void Query<Terms...>::share_out(JobPool& pool, Body&& body) const noexcept {
    constexpr std::size_t kGrain = 8;
    prepare();
    const std::size_t words = declare_words();
    const detail::IterationScope scope(*core_);
    // Whoever helps works for this system meanwhile.
    const detail::RunningSystem* const system = detail::running_system();
    const unsigned depth = detail::loop_depth() + 1;
    parallel_for(pool, words, kGrain, [&](std::size_t begin, std::size_t end, unsigned participant) {
        const detail::SystemScope help(system);
        const detail::LoopScope loop(depth);
        body(begin, end, participant);
    });
}

template <class... Terms>
template <class Fn>
void Query<Terms...>::visit_words(std::size_t begin, std::size_t end, Fn&& fn) const noexcept {
    if constexpr (Plan::kHasSparse)
        visit_joined_words(begin, end, fn);
    else
        visit_block_words(begin, end,
                          [&](const detail::BlockPlace& place, const detail::QueryMatch& match,
                              std::uint32_t from, std::uint32_t to) {
                              if constexpr (Plan::kFiltersRows) Plan::declare_cells(place, match, from, to);
                              call(fn, Plan::cells(place, match), from, to);
                          });
}

// Runs of rows that pass, in a part of the words.
template <class... Terms>
template <class Visit>
void Query<Terms...>::visit_block_words(std::size_t begin, std::size_t end, Visit&& visit) const noexcept {
    std::size_t first = 0;
    visit_blocks([&](const detail::BlockPlace& place, const ArchetypeRecord& archetype,
                     const detail::QueryMatch& match, std::uint32_t rows) {
        const std::size_t start = std::max(first, begin);
        const std::size_t stop = std::min(first + words_of(rows), end);
        if (start < stop) {
            const auto from = static_cast<std::uint32_t>((start - first) * 64);
            const auto to = std::min(rows, static_cast<std::uint32_t>((stop - first) * 64));
            Plan::visit_runs(place, archetype, match, from, to,
                             [&](std::uint32_t row, std::uint32_t last) { visit(place, match, row, last); });
        }
        first += words_of(rows);
        return first < end;
    });
}

template <class... Terms>
template <class Fn>
void Query<Terms...>::visit_joined_words(std::size_t begin, std::size_t end, Fn& fn) const noexcept {
    const auto tables = Join::tables(*core_);
    const auto visit = [&](const auto& own_tables, const Row& row) {
        Plan::declare_cells(row.place, row.match, row.index, row.index + 1);
        call_row(fn, own_tables, row);
    };
    if constexpr (Join::kIsWalked) {
        const detail::SparseSet walked(*core_, Join::smallest(tables));
        walk(walked, tables, static_cast<std::uint32_t>(begin * 64),
             std::min(walked.size(), static_cast<std::uint32_t>(end * 64)), visit);
    } else {
        visit_block_words(
            begin, end,
            [&](const detail::BlockPlace& place, const detail::QueryMatch& match, std::uint32_t from,
                std::uint32_t to) { join_run(place, match, tables, from, to, visit); });
    }
}

// How many words there are to share out. Where whole rows are written, they are declared.
template <class... Terms>
std::size_t Query<Terms...>::declare_words() const noexcept {
    if constexpr (Join::kIsWalked)
        return words_of(detail::SparseSet(*core_, Join::smallest(Join::tables(*core_))).size());
    std::size_t words = 0;
    visit_blocks([&](const detail::BlockPlace& place, const ArchetypeRecord&, const detail::QueryMatch& match,
                     std::uint32_t rows) {
        if constexpr (!Plan::kFiltersRows && !Plan::kHasSparse) Plan::declare(place, match, 0, rows, rows);
        words += words_of(rows);
    });
    return words;
}

}  // namespace ouro
