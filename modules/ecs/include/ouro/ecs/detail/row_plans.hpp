#pragma once

#include <ouro/ecs/entity.hpp>
#include <ouro/ecs/layout.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

// How rows come and move, worked out once and kept outside the image. Addresses hold as long as the epoch
// does in which they were found: nothing but a commit or a rollback ends one, and columns that are there stay
// where they are until then.
namespace ouro::detail {

// Where what is spawned with certain types goes.
struct SpawnPlan {
    static constexpr std::size_t kMaxTypes = 24;

    std::uint64_t chain_hash = 0;
    // Of the components, among which sparse ones are none of the archetype's.
    std::uint64_t registry_hash = 0;
    std::uint32_t archetype = 0;
    std::uint32_t type_count = 0;
    // Of each type in the order of the call; tags have none.
    std::array<std::uint8_t, kMaxTypes> columns{};

    // 64 rows that are declared since `epoch` began: number `group` of their archetype, and the first cells.
    std::uint64_t epoch = 0;
    ArchetypeRecord* record = nullptr;
    Entity* names = nullptr;
    std::uint32_t group = 0;
    std::array<std::byte*, kMaxTypes> cells{};
};

// A column that goes along into another archetype.
struct ColumnPair {
    std::uint8_t from = 0;
    std::uint8_t to = 0;
    std::uint32_t bytes = 0;
};

// From an archetype to one that has a component more or less.
struct MovePlan {
    static constexpr std::size_t kMaxPairs = 16;

    std::uint64_t epoch = 0;
    std::uint32_t key = 0;
    std::uint32_t target = 0;
    std::uint64_t chain_hash = 0;
    std::uint64_t target_hash = 0;
    // Of the component in the target, plus one.
    std::uint8_t column = 0;
    // Whether `pairs` are all that goes along beside the name: there is room for them, and no switches.
    bool is_simple = false;
    std::uint8_t pair_count = 0;
    std::array<ColumnPair, kMaxPairs> pairs{};
};

}  // namespace ouro::detail
