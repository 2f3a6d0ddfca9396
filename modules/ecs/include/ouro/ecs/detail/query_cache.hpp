#pragma once

#include <ouro/ecs/component.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace ouro::detail {

// How many components one query can hand out.
inline constexpr std::size_t kMaxQueryTerms = 12;

// An archetype that a query asks for, and where the query's components are in it.
struct QueryMatch {
    std::uint32_t archetype = 0;
    // Column plus one; zero where the archetype has none.
    std::array<std::uint8_t, kMaxQueryTerms> columns{};
};
static_assert(sizeof(QueryMatch) == 16);

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
    QueryShape shape;
    // Of the components by whose numbers it was shaped.
    std::uint64_t registry_hash = 0;
    std::uint32_t known = 0;
    std::uint64_t known_hash = 0;
    QueryMatch* matches = nullptr;
    std::uint32_t match_count = 0;

    [[nodiscard]] bool is_shaped_by(std::uint64_t hash) const noexcept {
        return __atomic_load_n(&registry_hash, __ATOMIC_ACQUIRE) == hash;
    }
    [[nodiscard]] bool knows(std::uint64_t hash) const noexcept {
        return __atomic_load_n(&known_hash, __ATOMIC_ACQUIRE) == hash;
    }
    // Requires: within a FindingScope.
    void take_shape(const QueryShape& found, std::uint64_t hash) noexcept {
        shape = found;
        known = match_count = 0;
        __atomic_store_n(&known_hash, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&registry_hash, hash, __ATOMIC_RELEASE);
    }
    void end_matches(std::uint32_t count, std::uint32_t archetypes, std::uint64_t hash) noexcept {
        match_count = count;
        known = archetypes;
        __atomic_store_n(&known_hash, hash, __ATOMIC_RELEASE);
    }
};

}  // namespace ouro::detail
