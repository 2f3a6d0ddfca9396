#pragma once

#include <ouro/ecs/commands.hpp>
#include <ouro/ecs/detail/iteration_scope.hpp>
#include <ouro/ecs/detail/joined_query.hpp>
#include <ouro/ecs/detail/query_plan.hpp>
#include <ouro/ecs/detail/row_bits.hpp>
#include <ouro/ecs/detail/system_scope.hpp>
#include <ouro/ecs/detail/wide_rows.hpp>
#include <ouro/ecs/query_terms.hpp>
#include <ouro/ecs/world.hpp>
#include <ouro/jobs/parallel_for.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ouro {

// The entities that have certain components, and these components.
//
//     Query<Position&, const Velocity&, Without<Frozen>> moving(world);
//     moving.each([](Position& position, const Velocity& velocity) { position.x += velocity.x; });
//
// Terms: `T&` is written and counts as changed in every row that is visited; `const T&` is read; `Mut<T>`
// counts as changed where it is written; `Optional<T&>`, `Optional<const T&>`; `Entity`; and the filters
// With, Without, Changed and ChangedNow. Rows come in the order of the archetypes and of their rows, which is
// part of the state. A query that requires sparse components walks the smallest of their tables instead, in
// the order of its rows.
//
// A small value: make it where it is used. What it found is kept by the world, and found again by itself
// after a rollback. While rows are visited, nothing may be spawned, destroyed, added or removed (assert in
// checked builds).
template <class... Terms>
class Query {
    using Plan = detail::QueryPlan<Terms...>;
    using Join = detail::JoinedQuery<Terms...>;
    // A row that passed all filters.
    struct Row {
        detail::BlockPlace place;
        detail::QueryMatch match;
        std::uint32_t index;
        typename Join::Rows sparse;
    };
    // What was found of the archetype that was asked about last.
    struct Finder {
        detail::QueryMatch match{.archetype = kNoArchetype};
        bool is_wanted = false;
    };

public:
    explicit Query(World& world) noexcept : Query(world.core()) {}
    explicit Query(detail::WorldCore& core) noexcept : core_(&core), cache_(&cache_of(core)) {
        constexpr detail::NameOfType kNameOf = &detail::name_among<Terms...>;
        detail::expect_query([] { return detail::access_of<false, Terms...>(); }, kNameOf);
        if constexpr (Plan::kHasSparse)
            detail::expect_query([] { return detail::access_of<true, Terms...>(); }, kNameOf);
    }

    // Calls fn with what the terms hand out, for each entity.
    template <class Fn>
    void each(Fn&& fn) const noexcept {
        if constexpr (Plan::kHasSparse)
            each_joined(fn);
        else
            each_column(fn);
    }

    // Calls fn with spans of rows that lie side by side, one span for each term: std::span<T>, which is empty
    // where an optional one is not there.
    template <class Fn>
    void chunks(Fn&& fn) const noexcept {
        static_assert(!Plan::kHasSparse, "sparse components do not lie beside the others: use each");
        visit_blocks([&](const detail::BlockPlace& place, const ArchetypeRecord& archetype,
                         const detail::QueryMatch& match, std::uint32_t rows) {
            const auto cells = Plan::cells(place, match);
            Plan::visit_runs(place, archetype, match, 0, rows, [&](std::uint32_t begin, std::uint32_t end) {
                Plan::declare(place, match, begin, end, rows);
                Plan::call_spans(fn, cells, begin, end);
            });
        });
    }

    // The same as each, shared out to the workers of a pool. Nothing may depend on which thread calls, nor on
    // the order.
    template <class Fn>
    void parallel_each(JobPool& pool, Fn&& fn) const noexcept {
        share_out(pool, [&](std::size_t begin, std::size_t end, unsigned) { visit_words(begin, end, fn); });
    }
    // The same for loops that record commands: fn gets a Commands before all else, that of its rows. They are
    // applied in the order of the rows, between what the system recorded before and after the loop. Within
    // another such loop, given that one's Commands, it is not shared out: rows come in their order.
    template <class Fn>
    void parallel_each(JobPool& pool, Commands commands, Fn&& fn) const noexcept {
        if (commands.stream().is_part()) {
            each([&]<class... Args>(Args&&... args) { fn(commands, std::forward<Args>(args)...); });
            return;
        }
        const detail::CommandSection section(commands.stream());
        share_out(pool, [&](std::size_t begin, std::size_t end, unsigned participant) {
            auto stream = section.part(static_cast<std::uint32_t>(begin * 64), participant);
            Commands own(stream);
            visit_words(begin, end,
                        [&]<class... Args>(Args&&... args) { fn(own, std::forward<Args>(args)...); });
        });
    }

    // What fn gets for one entity; false, and no call, when it is none of the query's.
    template <class Fn>
    bool visit(Entity entity, Fn&& fn) const noexcept {
        const auto tables = Join::tables(*core_);
        Finder finder;
        return visit_row(entity, tables, finder, [&](const Row& row) {
            Plan::declare(row.place, row.match, row.index, row.index + 1, UINT32_MAX);
            call_row(fn, tables, row);
        });
    }
    // The same for each entity of a list, in its order; how many of them are the query's. Places of several
    // are looked up at once, so that those that lie anywhere do not wait for each other.
    template <class Fn>
    std::uint32_t visit(std::span<const Entity> entities, Fn&& fn) const noexcept;
    [[nodiscard]] bool has(Entity entity) const noexcept {
        Finder finder;
        return visit_row(entity, Join::tables(*core_), finder, [](const Row&) {});
    }

    [[nodiscard]] std::uint32_t count() const noexcept {
        std::uint32_t total = 0;
        if constexpr (Plan::kHasSparse) {
            visit_joined([&](const auto&, const Row&) { ++total; });
            return total;
        }
        visit_blocks([&](const detail::BlockPlace& place, const ArchetypeRecord& archetype,
                         const detail::QueryMatch& match, std::uint32_t rows) {
            Plan::visit_runs(place, archetype, match, 0, rows,
                             [&](std::uint32_t begin, std::uint32_t end) { total += end - begin; });
        });
        return total;
    }
    // The first entity; null when there is none.
    [[nodiscard]] Entity first() const noexcept {
        Entity found;
        if constexpr (Plan::kHasSparse) {
            visit_joined([&](const auto&, const Row& row) {
                if (found.is_null()) found = core_->cell<Entity>(row.place.columns[0], row.index);
            });
            return found;
        }
        visit_blocks([&](const detail::BlockPlace& place, const ArchetypeRecord& archetype,
                         const detail::QueryMatch& match, std::uint32_t rows) {
            if (!found.is_null()) return;
            Plan::visit_runs(place, archetype, match, 0, rows, [&](std::uint32_t begin, std::uint32_t) {
                if (found.is_null()) found = core_->cell<Entity>(place.columns[0], begin);
            });
        });
        return found;
    }

    // The same for rows of which T changed, or came, in the world's tick `since` or later on the line of
    // ticks that led here; see changes in docs/ecs.md. Rather too many rows than one too few. T is one that
    // the query reads or writes. Who keeps `since` outside the image uses a ChangeCursor.
    template <class T, class Fn>
    void each_changed_since(std::uint32_t since, Fn&& fn) const noexcept;
    template <class T>
    [[nodiscard]] std::uint32_t count_changed_since(std::uint32_t since) const noexcept;

    // Calls fn with each entity, the last first. fn may destroy it, and add and remove components of it;
    // nothing counts as changed by being visited. See batches.hpp.
    template <class Fn>
    void drain(Fn&& fn) const noexcept;
    // Whether archetypes are the query's as wholes, or not at all; those that are.
    static constexpr bool kTakesWholes = !Plan::kFiltersRows && !Plan::kHasSparse;
    [[nodiscard]] std::span<const detail::QueryMatch> matches() const noexcept {
        return core_->matches_of(*cache_);
    }
    [[nodiscard]] detail::WorldCore& core() const noexcept { return *core_; }

    // Brings the columns that may be written to this tick, so that threads can mark rows at once.
    void prepare() const noexcept {
        if (!core_->is_there()) return;
        if constexpr (Plan::kHasSparse) Join::prepare(*core_, Join::tables(*core_));
        visit_blocks([&](const detail::BlockPlace& place, const ArchetypeRecord&,
                         const detail::QueryMatch& match, std::uint32_t) { Plan::prepare(place, match); });
    }

    // Finds the archetypes, and makes room for marks wherever something may be written: threads then only
    // read what belongs to all. capacity_exhausted; not_found where the world is gone.
    [[nodiscard]] Status reserve_marks() const noexcept {
        if (!core_->is_there()) return Status::not_found;
        Status status = Status::ok;
        if constexpr (Plan::kHasSparse) status = Join::reserve(*core_, Join::tables(*core_));
        visit_blocks([&](const detail::BlockPlace& place, const ArchetypeRecord&,
                         const detail::QueryMatch& match, std::uint32_t) {
            if (status == Status::ok) status = Plan::reserve(place, match);
            return status == Status::ok;
        });
        return status;
    }

    // Calls fn with the names of all entities of the query's archetypes, from the last row of each to the
    // first. It may destroy the one that it is called for, or others.
    template <class Fn>
    void each_name_backwards(Fn&& fn) const noexcept {
        for (std::size_t i = 0; i < core_->matches_of(*cache_).size(); ++i) {
            const ArchetypeRecord& archetype = core_->archetype(core_->matches_of(*cache_)[i].archetype);
            for (std::uint32_t row = archetype.row_count; row-- != 0;) {
                if (row >= archetype.row_count) continue;
                const RowPlace place = place_of_row(row);
                fn(core_->cell<Entity>(core_->block(archetype, place.block)[0], place.index));
            }
        }
    }

private:
    template <class Fn, class Cells>
    static void call(Fn& fn, const Cells& cells, std::uint32_t begin, std::uint32_t end) noexcept {
        detail::apply_cells(cells, [&](const auto&... each) {
            OURO_WIDE_ROWS
            for (std::uint32_t index = begin; index < end; ++index)
                Plan::call_row(fn, index, each...);
        });
    }
    // With those of a first block that is full.
    template <class Fn, class Cells>
    static void call_first(Fn& fn, const Cells& cells) noexcept;

    template <class Fn, class Tables>
    void call_row(Fn& fn, const Tables& tables, const Row& row) const noexcept {
        Join::call(*core_, tables, row.sparse, fn, Plan::cells(row.place, row.match), row.index);
    }

    template <class Fn>
    void each_column(Fn& fn) const noexcept {
        if constexpr (!Plan::kFiltersRows) return each_whole(fn);
        visit_blocks([&](const detail::BlockPlace& place, const ArchetypeRecord& archetype,
                         const detail::QueryMatch& match, std::uint32_t rows) {
            const auto cells = Plan::cells(place, match);
            const auto run = [&](std::uint32_t begin, std::uint32_t end) {
                Plan::declare(place, match, begin, end, rows);
                call(fn, cells, begin, end);
            };
            const auto one = [&](std::uint32_t row) {
                Plan::declare(place, match, row, row + 1, UINT32_MAX);
                std::apply([&](const auto&... each) { Plan::call_row(fn, row, each...); }, cells);
            };
            Plan::visit_rows(place, archetype, match, 0, rows, run, one);
        });
    }
    // All rows; those of match number `at`, from a row on that begins a block.
    template <class Fn>
    void each_whole(Fn& fn) const noexcept;
    template <class Fn>
    [[gnu::noinline]] void each_block(std::size_t at, const ArchetypeRecord& archetype, std::uint32_t first,
                                      std::uint64_t epoch, Fn& fn) const noexcept;
    [[nodiscard]] static detail::QueryCache& cache_of(detail::WorldCore& core) noexcept {
        core.expect_not_replaced();
        return Plan::cache(core);
    }

    template <class T, class Visit>
    void visit_changed_since(std::uint32_t since, Visit&& visit) const noexcept;

    // --- queries with sparse terms
    template <class Fn>
    void each_joined(Fn& fn) const noexcept {
        visit_joined([&](const auto& tables, const Row& row) {
            Plan::declare(row.place, row.match, row.index, row.index + 1, UINT32_MAX);
            call_row(fn, tables, row);
        });
    }
    // Calls with the tables and each Row.
    template <class Visit>
    void visit_joined(Visit&& visit) const noexcept {
        const auto tables = Join::tables(*core_);
        if constexpr (Join::kIsWalked) {
            const detail::IterationScope scope(*core_);
            const detail::SparseSet walked(*core_, Join::smallest(tables));
            walk(walked, tables, 0, walked.size(), visit);
        } else {
            visit_blocks([&](const detail::BlockPlace& place, const ArchetypeRecord& archetype,
                             const detail::QueryMatch& match, std::uint32_t rows) {
                Plan::visit_runs(place, archetype, match, 0, rows,
                                 [&](std::uint32_t begin, std::uint32_t end) {
                                     join_run(place, match, tables, begin, end, visit);
                                 });
            });
        }
    }
    template <class Tables, class Visit>
    void join_run(const detail::BlockPlace& place, const detail::QueryMatch& match, const Tables& tables,
                  std::uint32_t begin, std::uint32_t end, Visit& visit) const noexcept {
        const Entity* const names = &core_->cell<Entity>(place.columns[0], 0);
        Row row{place, match, 0, {}};
        for (row.index = begin; row.index < end; ++row.index)
            if (Join::find(*core_, tables, names[row.index], row.sparse)) visit(tables, row);
    }
    // Rows of a table, as far as their entities pass.
    template <class Tables, class Visit>
    void walk(const detail::SparseSet& walked, const Tables& tables, std::uint32_t begin, std::uint32_t end,
              Visit& visit) const noexcept {
        Finder finder;
        const bool is_alone = Join::kIsSparseOnly && core_->header().prefab_archetypes == 0;
        for (std::uint32_t at = begin; at < end; ++at) {
            const RowPlace place = place_of_row(at);
            const Entity entity = core_->cell<Entity>(walked.block(place.block)[0], place.index);
            if (!is_alone) {
                visit_row(entity, tables, finder, [&](const Row& row) { visit(tables, row); });
                continue;
            }
            // Its own names serve as well as the archetype's.
            Row row{{core_, walked.block(place.block), place.block}, {}, place.index, {}};
            if (Join::find(*core_, tables, entity, row.sparse)) visit(tables, row);
        }
    }
    // The row of one entity, if it passes. Nothing is declared.
    template <class Tables, class Visit>
    bool visit_row(Entity entity, const Tables& tables, Finder& finder, Visit&& visit) const noexcept;
    [[nodiscard]] bool find_archetype(std::uint32_t number, Finder& finder) const noexcept;
    template <class Cells>
    [[nodiscard]] std::size_t find_cells(std::span<const Entity> entities, Cells* found) const noexcept;
    [[nodiscard]] std::size_t find_run(std::span<const Entity> entities) const noexcept;
    template <class Fn>
    void visit_run(Entity first, std::size_t count, Fn& fn) const noexcept;

    // Whole words of change bits, so that no two threads share one. Of all blocks, one behind the other:
    // which part of them a thread gets is the same whatever they are.
    [[nodiscard]] static std::size_t words_of(std::uint32_t rows) noexcept {
        return (std::size_t{rows} + 63) / 64;
    }
    template <class Body>
    void share_out(JobPool& pool, Body&& body) const noexcept;
    [[nodiscard]] std::size_t declare_words() const noexcept;
    template <class Fn>
    void visit_words(std::size_t begin, std::size_t end, Fn&& fn) const noexcept;
    template <class Visit>
    void visit_block_words(std::size_t begin, std::size_t end, Visit&& visit) const noexcept;
    template <class Fn>
    void visit_joined_words(std::size_t begin, std::size_t end, Fn& fn) const noexcept;

    // Up to the first for which visit returns false, where it returns anything.
    template <class Visit>
    void visit_blocks(Visit&& visit) const noexcept {
        const detail::IterationScope scope(*core_);
        for (const detail::QueryMatch& match : core_->matches_of(*cache_)) {
            const ArchetypeRecord& archetype = core_->archetype(match.archetype);
            std::uint32_t left = archetype.row_count;
            for (std::uint32_t number = 0; left != 0; ++number) {
                const std::uint32_t rows = std::min(left, rows_of_block(number));
                const detail::BlockPlace place{core_, core_->block(archetype, number), number};
                using Result = decltype(visit(place, archetype, match, rows));
                if constexpr (std::is_same_v<Result, bool>) {
                    if (!visit(place, archetype, match, rows)) return;
                } else {
                    visit(place, archetype, match, rows);
                }
                left -= rows;
            }
        }
    }

    detail::WorldCore* core_;
    detail::QueryCache* cache_;
};

template <class... Terms>
template <class Fn>
void Query<Terms...>::drain(Fn&& fn) const noexcept {
    // From the end: what takes a row's place was asked already. Rows may go before their turn, too, when
    // others follow the one that is destroyed.
    const auto visit_back = [&](const ArchetypeRecord& rows) {
        for (std::uint32_t row = rows.row_count; row != 0;) {
            const RowPlace place = place_of_row(--row);
            const Entity entity = core_->cell<Entity>(core_->block(rows, place.block)[0], place.index);
            if (kTakesWholes || has(entity)) fn(entity);
            row = std::min(row, rows.row_count);
        }
    };
    if constexpr (Join::kIsWalked) {
        visit_back(Join::smallest(Join::tables(*core_)).rows);
    } else {
        const std::size_t count = matches().size();
        for (std::size_t i = 0; i < count; ++i)
            visit_back(core_->archetype(matches()[i].archetype));
    }
}

}  // namespace ouro

#include <ouro/ecs/detail/query_list.hpp>
#include <ouro/ecs/detail/query_loops.hpp>
#include <ouro/ecs/detail/query_sharing.hpp>
#include <ouro/ecs/detail/query_since.hpp>
