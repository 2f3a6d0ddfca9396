#pragma once

#include <ouro/ecs/detail/settled_value.hpp>
#include <ouro/ecs/layout.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

// Where the cells of a component are in an archetype, found once in an epoch: what a look at one entity needs
// beside its slot. Outside the image; any number of threads look and note at once.
namespace ouro::detail {

// Of one component in one archetype.
class alignas(64) CellPlace {
public:
    // The number of the component's type above that of the archetype. The latter is what a slot's upper half
    // is less the generation that is asked for (see EntitySlot): where they differ, the name is nobody's, for
    // something is left of the difference between the two numbers.
    [[nodiscard]] static constexpr std::uint64_t name_of(std::uint32_t type,
                                                         std::uint64_t archetype) noexcept {
        return (std::uint64_t{type} << 48) + archetype;
    }

    // Whether it knows the row.
    [[nodiscard]] bool knows(std::uint64_t name, std::uint64_t now, std::uint32_t row) const noexcept {
        return __atomic_load_n(&epoch_, __ATOMIC_ACQUIRE) == now && load_settled(name_) == name &&
               row < __atomic_load_n(&rows_, __ATOMIC_ACQUIRE);
    }
    // Where the cells of a block would begin if all rows of the archetype lay there, one behind the other; an
    // offset, and so modulo 2^32. Requires: it knows a row of the block.
    [[nodiscard]] std::uint32_t first_cell(std::uint32_t block) const noexcept {
        return load_settled(first_cells_[block]);
    }
    // Where the BlockColumn is.
    [[nodiscard]] std::uint32_t column(std::uint32_t block) const noexcept {
        return __atomic_load_n(&columns_[block], __ATOMIC_RELAXED);
    }

    // Becomes that of this name as long as the epoch lasts, with all blocks that there are; unless it is
    // another's, or somebody is at it.
    void note(std::uint64_t name, std::uint64_t now, const ArchetypeRecord& archetype, unsigned column,
              std::size_t bytes, const std::byte* base) noexcept;
    void forget() noexcept {
        if (epoch_ != 0) epoch_ = 0;
    }

private:
    static constexpr std::uint64_t kBusy = ~std::uint64_t{0};

    std::uint64_t epoch_ = 0;
    std::uint64_t name_ = 0;
    std::uint32_t rows_ = 0;
    std::array<std::uint32_t, kMaxBlocks> first_cells_{};
    std::array<std::uint32_t, kMaxBlocks> columns_{};
};

// A component of an entity: its cell, and what tells of the column that notes its changes.
struct KnownCell {
    // Null: the entity is gone, has no such component, or its place is not known in this epoch yet.
    std::byte* data = nullptr;
    const CellPlace* place = nullptr;
    std::uint32_t row = 0;
    std::uint32_t block = 0;
};

// Some places for each type: as many as archetypes are looked into at random in most programs. Two that meet
// in one take turns by epochs, and the second is looked up. Memory that is never touched costs nothing.
inline constexpr std::uint32_t kPlacesOfType = 64;
inline constexpr std::uint32_t kPlacedTypes = 32;
inline constexpr std::uint32_t kCellPlaces = kPlacesOfType * kPlacedTypes;

[[nodiscard]] constexpr std::uint32_t cell_place_of(std::uint32_t type, std::uint32_t archetype) noexcept {
    return type % kPlacedTypes * kPlacesOfType + archetype % kPlacesOfType;
}

}  // namespace ouro::detail
