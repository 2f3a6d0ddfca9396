#pragma once

#include <array>
#include <cstdint>

// What a world remembers of what it has declared since the last commit or rollback, outside the image.
namespace ouro::detail {

// 64 rows of an archetype whose cells are declared in this epoch: those where rows are added, and those where
// one was taken out last. Most calls find theirs.
struct DeclaredRows {
    static constexpr std::uint32_t kNoGroup = UINT32_MAX;

    std::uint64_t epoch = 0;
    std::uint32_t added_group = kNoGroup;
    std::uint32_t hole_group = kNoGroup;
};

// The same of a sparse component's table, and which units of the image were declared last: an operation
// writes in four places, and the next one often beside them.
struct SparseReady {
    DeclaredRows rows;
    std::uint64_t epoch = 0;
    std::array<std::uintptr_t, 4> units{};
};

// Slots are often touched one behind the other: two places are remembered, of the entities themselves and
// of those that are moved for them.
struct DeclaredSlots {
    std::uint64_t epoch = 0;
    std::uint32_t group = 0;
};

}  // namespace ouro::detail
