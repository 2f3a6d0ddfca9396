#pragma once

#include <ouro/ecs/component.hpp>
#include <ouro/ecs/layout.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace ouro::detail {

class WorldCore;

// How many components one query can hand out.
inline constexpr std::size_t kMaxQueryTerms = 12;
// Of how many of them the cells are remembered.
inline constexpr std::size_t kReadyTerms = 5;

// An archetype that a query asks for, and where the query's components are in it.
struct QueryMatch {
    std::uint32_t archetype = 0;
    // Column plus one; zero where the archetype has none.
    std::array<std::uint8_t, kMaxQueryTerms> columns{};
};

// What a loop found of a match in an epoch: of the first terms, where the cells of the archetype's first
// block are. All rows of what the query writes were declared then, and count as changed until the tick ends;
// those that came later, when they came. Half a line: where archetypes are many and small, a loop is as fast
// as lines come from the caches, and rows have few.
struct alignas(32) ReadyMatch {
    std::uint64_t epoch = 0;
    std::uint32_t archetype = 0;
    std::array<std::uint32_t, kReadyTerms> cells{};

    // Systems that run at once may make the same query; what they find is the same.
    [[nodiscard]] bool is_ready(std::uint64_t now) const noexcept {
        return __atomic_load_n(&epoch, __ATOMIC_ACQUIRE) == now;
    }
    [[nodiscard]] std::uint32_t ready_cells(std::size_t term) const noexcept {
        return __atomic_load_n(&cells[term], __ATOMIC_RELAXED);
    }
    void make_ready(std::uint64_t now, const QueryMatch& match, const BlockColumn* found) noexcept {
        for (std::size_t term = 0; term < kReadyTerms; ++term) {
            const unsigned column = match.columns[term];
            __atomic_store_n(&cells[term], column == 0 ? 0 : found[column - 1].data, __ATOMIC_RELAXED);
        }
        __atomic_store_n(&epoch, now, __ATOMIC_RELEASE);
    }
};
static_assert(sizeof(QueryMatch) == 16 && sizeof(ReadyMatch) == 32);

// What a query asks for.
struct QueryShape {
    ComponentMask required;
    ComponentMask excluded;
    // Of the terms that are handed out, in their order; kNoComponent: there is no such component yet.
    std::array<ComponentId, kMaxQueryTerms> terms{};
    std::uint32_t term_count = 0;
};

// The matches that were found up to a number of archetypes, and the hash that says whether these archetypes
// are still the same. Systems that run at once may make the same query: one thread at a time brings it up to
// date (see FindingScope), and stores the two hashes last, which say to the others that the rest
// is there.
struct QueryCache {
    // By the components of now: numbers may be others after a rollback or a load, which queries outlive.
    using MakeShape = QueryShape (*)(WorldCore& core) noexcept;

    QueryShape shape;
    MakeShape make_shape = nullptr;
    // Of the components by whose numbers it was shaped, with all bits turned round: memory of zeros is shaped
    // by nothing, and neither by the registry of a world that is gone.
    std::uint64_t registry_hash = 0;
    std::uint32_t known = 0;
    std::uint64_t known_hash = 0;
    QueryMatch* matches = nullptr;
    // One for each match, and one behind the last.
    ReadyMatch* ready = nullptr;
    // Of each archetype that is known, its number in `matches` plus one, or zero.
    std::uint16_t* match_of = nullptr;
    std::uint32_t match_count = 0;

    // Null when the archetype is none of the query's. Requires: it is known.
    [[nodiscard]] const QueryMatch* match_of_archetype(std::uint32_t archetype) const noexcept {
        const std::uint16_t number = match_of[archetype];
        return number == 0 ? nullptr : matches + (number - 1);
    }

    [[nodiscard]] bool is_shaped_by(std::uint64_t hash) const noexcept {
        return __atomic_load_n(&registry_hash, __ATOMIC_ACQUIRE) == ~hash;
    }
    [[nodiscard]] bool knows(std::uint64_t hash) const noexcept {
        return __atomic_load_n(&known_hash, __ATOMIC_ACQUIRE) == hash;
    }
    // Requires: within a FindingScope.
    void take_shape(const QueryShape& found, std::uint64_t hash) noexcept {
        shape = found;
        known = match_count = 0;
        __atomic_store_n(&known_hash, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&registry_hash, ~hash, __ATOMIC_RELEASE);
    }
    void end_matches(std::uint32_t count, std::uint32_t archetypes, std::uint64_t hash) noexcept {
        match_count = count;
        known = archetypes;
        __atomic_store_n(&known_hash, hash, __ATOMIC_RELEASE);
    }
};

}  // namespace ouro::detail
