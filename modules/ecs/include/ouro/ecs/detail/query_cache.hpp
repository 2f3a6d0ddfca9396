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
// are still the same.
struct QueryCache {
    QueryShape shape;
    // Of the components by whose numbers it was shaped.
    std::uint64_t registry_hash = 0;
    std::uint32_t known = 0;
    std::uint64_t known_hash = 0;
    QueryMatch* matches = nullptr;
    std::uint32_t match_count = 0;
};

}  // namespace ouro::detail
