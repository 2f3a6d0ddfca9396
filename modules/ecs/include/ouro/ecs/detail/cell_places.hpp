#pragma once

#include <ouro/ecs/detail/block_key.hpp>
#include <ouro/ecs/detail/settled_value.hpp>
#include <ouro/ecs/layout.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

// Where the cells of a component are in an archetype, found once in an epoch: what a look at one entity needs
// beside its slot. Outside the image; any number of threads look and note at once.
namespace ouro::detail {

// Some places for each type: as many as archetypes are looked into at random in most programs. Two that meet
// in one take turns by epochs, and the second is looked up. Memory that is never touched costs nothing.
inline constexpr std::uint32_t kPlacesOfType = 64;
inline constexpr std::uint32_t kPlacedTypes = 32;
inline constexpr std::uint32_t kCellPlaces = kPlacesOfType * kPlacedTypes;

// Of one component in one archetype.
class alignas(64) CellPlace {
public:
    // The number of the component's type and that of the archetype. The latter is what a slot's upper half is
    // less the generation that is asked for (see EntitySlot): where they differ, the name is nobody's. What
    // is left of the difference lies between the lowest 16 bits and the 48th, where no name differs from
    // another.
    [[nodiscard]] static constexpr std::uint64_t name_of(std::uint32_t type,
                                                         std::uint64_t archetype) noexcept {
        return type * kTypeStep + archetype;
    }
    // The same by one load. Before note_type<T>() it is a name that no place has.
    template <class T>
    [[nodiscard]] static std::uint64_t known_name_of(std::uint64_t archetype) noexcept {
        return name_of_type<T>.load(std::memory_order_relaxed) + archetype;
    }
    template <class T>
    static void note_type(std::uint32_t type) noexcept {
        name_of_type<T>.store(name_of(type, 0), std::memory_order_relaxed);
    }

    [[nodiscard]] bool knows(std::uint64_t name, std::uint64_t now) const noexcept {
        return __atomic_load_n(&epoch_, __ATOMIC_ACQUIRE) == now && load_settled(name_) == name;
    }
    // Where the cells of a row's block would begin if all rows of the archetype lay there, one behind the
    // other; an offset, and so modulo 2^32. Zero: it does not know the block. Requires: it knows the name.
    [[nodiscard]] std::uint32_t first_cell(std::uint32_t row) const noexcept {
        return load_settled(first_cells_[block_key(row)]);
    }
    // Where the BlockColumn is. Requires: it knows the block.
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
    static constexpr std::uint64_t kTypeStep = (std::uint64_t{1} << 48) + kPlacesOfType;

    template <class T>
    inline static constinit std::atomic<std::uint64_t> name_of_type = 0;

    std::uint64_t epoch_ = 0;
    std::uint64_t name_ = 0;
    // By block_key().
    std::array<std::uint32_t, 32> first_cells_{};
    std::array<std::uint32_t, kMaxBlocks> columns_{};
};
static_assert(sizeof(CellPlace) == 256);

// A component of an entity: its cell, and what tells of the column that notes its changes.
struct KnownCell {
    std::byte* data = nullptr;
    const CellPlace* place = nullptr;
    std::uint32_t row = 0;
};

[[nodiscard]] constexpr std::uint32_t cell_place_of(std::uint64_t name) noexcept {
    return static_cast<std::uint32_t>(name % kCellPlaces);
}

}  // namespace ouro::detail
