#pragma once

#include <ouro/base/fixed_string.hpp>
#include <ouro/base/sim_value.hpp>
#include <ouro/ecs/component.hpp>
#include <ouro/ecs/entity.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

// What a world is in the image: bytes that mean the same to C++ on every platform, to JavaScript and to
// another process. All places are 32-bit offsets from the start of the image; zero is none.
//
//     WorldHeader (root "ecs" of the segment's heap)
//       ├─ components ──► ComponentRecord[256] ──► FieldRecord[], SparseTable
//       ├─ entities ────► EntitySlot[max_entities]
//       └─ archetypes ──► ArchetypeRecord[max_archetypes]
//                           ├─ columns ──► ColumnRecord[]          which component, how large
//                           └─ blocks[] ─► BlockColumn[] ──► rows  one for each column, and change bits
namespace ouro {

// Rows lie in blocks: the first has kFirstBlockRows, the second as many, each further one twice as many as
// the one before. An archetype grows by a block, and nothing is copied.
inline constexpr std::uint32_t kFirstBlockShift = 6;
inline constexpr std::uint32_t kFirstBlockRows = 1U << kFirstBlockShift;
inline constexpr std::uint32_t kMaxBlocks = 24;

struct RowPlace {
    std::uint32_t block;
    std::uint32_t index;
};

[[nodiscard]] constexpr RowPlace place_of_row(std::uint32_t row) noexcept {
    // Without branches. The first row of block k > 0 is one bit: kFirstBlockRows << (k - 1).
    const auto last_bit = 31U ^ static_cast<std::uint32_t>(std::countl_zero(row | (kFirstBlockRows - 1)));
    const std::uint32_t block = last_bit - (kFirstBlockShift - 1);
    const std::uint32_t first = kFirstBlockRows / 2 << block & ~(kFirstBlockRows - 1);
    return {block, row - first};
}
[[nodiscard]] constexpr std::uint32_t rows_of_block(std::uint32_t block) noexcept {
    return kFirstBlockRows << (block == 0 ? 0 : block - 1);
}
[[nodiscard]] constexpr std::uint32_t first_row_of_block(std::uint32_t block) noexcept {
    return block == 0 ? 0 : kFirstBlockRows << (block - 1);
}

static_assert(place_of_row(kFirstBlockRows - 1).block == 0 && place_of_row(kFirstBlockRows).block == 1);
static_assert(place_of_row(2 * kFirstBlockRows).block == 2 && place_of_row(2 * kFirstBlockRows).index == 0);
static_assert(place_of_row(UINT32_MAX).index == UINT32_MAX / 2);

// Which rows of a column of a block were changed in a tick.
enum class Changes : std::uint8_t { none, some, all };

// A column of one block.
struct BlockColumn {
    std::uint32_t data;
    // Three planes of one bit a row: two of changes, in `tick` and in the tick before, which take turns; rows
    // that are switched off. Zero until one of them is needed.
    std::uint32_t planes;
    // The last one in which something was changed here.
    std::uint32_t tick;
    Changes now;
    Changes before;
    // Whether any row was ever switched off.
    std::uint8_t has_disabled;
    // Which of the first two planes is that of `tick`.
    std::uint8_t turn;
};
static_assert(sizeof(BlockColumn) == 16);

struct ColumnRecord {
    std::uint32_t bytes;
    ComponentId component;
    std::uint16_t toggles;
};
static_assert(sizeof(ColumnRecord) == 8);

struct ArchetypeRecord {
    ComponentMask mask;
    // Of the components of this archetype and of all before it: the same number with the same hash is the
    // same archetype, whatever was rolled back meanwhile.
    std::uint64_t chain_hash;
    std::uint32_t row_count;
    std::uint16_t column_count;
    std::uint16_t block_count;
    // ColumnRecord[column_count], in ascending order of components; the first is the entity's name.
    std::uint32_t columns;
    // For each component that was registered when the archetype was made, the number of its column plus one,
    // or zero: one byte each.
    std::uint32_t column_map;
    std::uint32_t column_map_bytes;
    // Rows from this one on came in `added_tick`; those from `added_before` to there, in the tick before.
    std::uint32_t added_tick;
    std::uint32_t added_from;
    std::uint32_t added_before;
    // BlockColumn[column_count] each.
    std::array<std::uint32_t, kMaxBlocks> blocks;
    std::array<std::uint32_t, 6> unused;
};
static_assert(sizeof(ArchetypeRecord) == 192 && offsetof(ArchetypeRecord, blocks) == 72);

// A sparse component: rows of its own, and which of them is an entity's.
struct SparseTable {
    // Two columns: the entity's name, and the component. No archetype: it has no number, and no map of
    // columns.
    ArchetypeRecord rows;
    // For each kSparsePageSlots slots of entities, the place of as many numbers: of the entity's row plus
    // one, or zero where it has none. Zero where nobody has.
    std::uint32_t pages;
    std::uint32_t page_count;
    // The table of the next sparse component.
    std::uint32_t next;
    // Of a relation, the table of the other side.
    std::uint32_t partner;
    // Of the links of a relation: those whose target went while they have not followed yet, as slots plus
    // one. Nobody, but within a destroy.
    std::uint32_t doomed_first;
    std::uint32_t doomed_last;
    ComponentId component;
    SparseRole role;
    std::uint8_t unused;
    std::uint32_t unused_too;
};
static_assert(sizeof(SparseTable) == 224 && offsetof(SparseTable, pages) == 192);

// A page of the image.
inline constexpr std::uint32_t kSparsePageSlots = 1024;

struct FieldRecord {
    FixedString<47> name;
    std::uint32_t offset;
    std::uint32_t element_bytes;
    std::uint32_t count;
    // FieldKind.
    std::uint8_t kind;
    std::array<std::uint8_t, 3> unused;
};
static_assert(sizeof(FieldRecord) == 64);

struct ComponentRecord {
    FixedString<47> name;
    std::uint64_t layout_hash;
    std::uint32_t bytes;
    std::uint16_t alignment;
    Heat heat;
    ComponentKind kind;
    // FieldRecord[field_count].
    std::uint32_t fields;
    std::uint16_t field_count;
    std::uint16_t toggles;
    // Of a singleton its value; of a sparse component its table.
    std::uint32_t data;
    // Of a singleton: the last one in which it was written.
    std::uint32_t changed_tick;
    std::array<std::uint32_t, 4> unused;
};
static_assert(sizeof(ComponentRecord) == 96 && offsetof(ComponentRecord, data) == 72);

// Where columns smaller than a page are cut from.
struct HeatArena {
    std::uint32_t cursor;
    std::uint32_t end;
};

struct WorldHeader {
    static constexpr std::array<char, 8> kMagic = {'o', 'u', 'r', 'o', 'e', 'c', 's', '\0'};
    static constexpr std::uint32_t kVersion = 2;

    std::array<char, 8> magic;
    std::uint32_t version;
    // The tick that is being made: what change marks are stamped with.
    std::uint32_t tick;
    std::uint32_t component_count;
    std::uint32_t archetype_count;
    std::uint32_t max_entities;
    std::uint32_t max_archetypes;
    // Slots that were ever used; those of them that are occupied, and that will never be used again.
    std::uint32_t used_slots;
    std::uint32_t live_entities;
    std::uint32_t retired_slots;
    // The slot to be used next, plus one.
    std::uint32_t first_free;
    std::uint32_t components;
    std::uint32_t entities;
    std::uint32_t archetypes;
    // Roots of what else a world keeps: see their headers.
    std::uint32_t names;
    std::array<HeatArena, 3> arenas;
    // Of the names of all components, in their order.
    std::uint64_t registry_hash;
    // The table of the first sparse component.
    std::uint32_t first_sparse;
    // How many archetypes have kPrefabComponent.
    std::uint32_t prefab_archetypes;
    // How all structures of this file and those that lead here are laid out: kStructuresHash of the program
    // that wrote the image; see image_layout.hpp.
    std::uint64_t structures_hash;
    // Begins with structures_hash; then all components in their order, with names, sizes and fields.
    std::uint64_t layout_hash;
    std::array<std::uint32_t, 2> unused;
};
static_assert(sizeof(WorldHeader) == 128 && SimKey<WorldHeader> && SimKey<ArchetypeRecord>);
static_assert(SimKey<ComponentRecord> && SimKey<FieldRecord> && SimKey<BlockColumn> && SimKey<EntitySlot>);
static_assert(SimKey<SparseTable>);

}  // namespace ouro
