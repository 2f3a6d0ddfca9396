#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/base/expected.hpp>
#include <ouro/base/field_info.hpp>
#include <ouro/ecs/detail/change_planes.hpp>
#include <ouro/ecs/detail/query_cache.hpp>
#include <ouro/ecs/detail/type_number.hpp>
#include <ouro/ecs/layout.hpp>
#include <ouro/os/reservation.hpp>
#include <ouro/streams/image_heap.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ouro {

struct WorldOptions {
    // A portable segment with declared tracking, which becomes the world's alone.
    std::string_view segment = "world";
    // How many entities there can be at once.
    std::uint32_t max_entities = std::uint32_t{1} << 20;
    // How many combinations of components; at most kMaxArchetypes.
    std::uint32_t max_archetypes = 1024;
};
inline constexpr std::uint32_t kMaxArchetypes = kNoArchetype;

namespace detail {

// What a component is, as its type says.
struct ComponentDescription {
    std::string_view name;
    std::uint32_t bytes = 0;
    std::uint32_t alignment = 1;
    std::uint64_t layout_hash = 0;
    std::span<const FieldInfo> fields = {};
    Heat heat = Heat::hot;
    ComponentKind kind = ComponentKind::column;
    bool toggles = false;
};

template <class T>
[[nodiscard]] ComponentDescription description_of() noexcept {
    constexpr ComponentOptions kOptions = kComponentOptions<T>;
    ComponentDescription made;
    made.name = component_name<T>();
    made.heat = kOptions.heat;
    made.toggles = kOptions.toggles;
    made.kind = kComponentKind<T>;
    if constexpr (!kIsTag<T>) {
        made.bytes = sizeof(T);
        made.alignment = alignof(T);
        made.fields = fields_of<T>();
        made.layout_hash = layout_hash_of<T>();
    }
    return made;
}

// Where what is spawned with certain types goes.
struct SpawnPlan {
    static constexpr std::size_t kMaxTypes = 24;

    std::uint64_t chain_hash = 0;
    std::uint32_t archetype = 0;
    // Of each type in the order of the call; tags have none.
    std::array<std::uint8_t, kMaxTypes> columns{};
};

// The storage of a world: everything without types. Structural changes are for one thread at a time.
class WorldCore {
public:
    // Of components, of combinations that are spawned, and of queries in one program.
    static constexpr std::uint32_t kMaxTypeNumbers = 1024;
    static constexpr std::uint32_t kMaxSpawnNumbers = 1024;
    static constexpr std::uint32_t kMaxQueryNumbers = 512;

    WorldCore(StateRing& ring, const ImageHeap& heap) noexcept
        : ring_(&ring), heap_(heap), marks_(ring.marks()), base_(ring.base().start()) {}
    WorldCore(const WorldCore&) = delete;
    WorldCore& operator=(const WorldCore&) = delete;

    // How much memory outside the image a world takes, lazily.
    [[nodiscard]] static std::size_t outside_bytes(std::uint32_t max_archetypes) noexcept;
    // Writes an empty world, or takes what is there.
    Status begin(const WorldOptions& options, MemoryBlock outside) noexcept;
    Status attach(MemoryBlock outside) noexcept;

    [[nodiscard]] StateRing& ring() const noexcept { return *ring_; }
    [[nodiscard]] ImageHeap& heap() noexcept { return heap_; }
    [[nodiscard]] const WorldHeader& header() const noexcept { return *header_; }
    [[nodiscard]] std::uint32_t offset_of_header() const noexcept { return heap_.offset_of(header_); }
    [[nodiscard]] DirtyMap& marks() noexcept { return marks_; }
    [[nodiscard]] std::byte* at(std::uint32_t offset) const noexcept { return base_ + offset; }
    [[nodiscard]] std::uint32_t now() const noexcept { return header_->tick; }

    // The tick ends: what is marked from now on is of the next one. Taken back when it could not end.
    void end_tick() noexcept;
    void take_back_tick() noexcept;

    // --- components
    [[nodiscard]] Expected<ComponentId> add_component(const ComponentDescription& description) noexcept;
    [[nodiscard]] const ComponentRecord& component(ComponentId id) const noexcept { return components_[id]; }
    [[nodiscard]] ComponentId find_component(std::string_view name) const noexcept;
    template <class T>
    [[nodiscard]] Expected<ComponentId> component() noexcept {
        static_assert(require_component<T>());
        const ComponentId known = id_of<T>();
        if (known != kNoComponent) [[likely]]
            return known;
        return add_component_of_type(type_number<T>(), description_of<T>());
    }
    // kNoComponent when the type is not registered here, or was rolled back.
    template <class T>
    [[nodiscard]] ComponentId id_of() const noexcept {
        if (known_registry_ != header_->registry_hash) [[unlikely]]
            find_ids_again();
        return component_of_type_[type_number<T>()];
    }

    // --- entities
    [[nodiscard]] bool is_alive(Entity entity) const noexcept {
        const auto index = static_cast<std::uint32_t>(entity.index());
        if (index >= header_->used_slots) return false;
        const EntitySlot slot = slots_[index];
        return slot.generation == entity.generation() && slot.archetype != kNoArchetype;
    }
    // Requires: alive.
    [[nodiscard]] EntitySlot slot_of(Entity entity) const noexcept { return slots_[entity.index()]; }

    // --- archetypes
    [[nodiscard]] std::span<const ArchetypeRecord> archetypes() const noexcept {
        return {archetypes_, header_->archetype_count};
    }
    [[nodiscard]] ArchetypeRecord& archetype(std::uint32_t number) noexcept { return archetypes_[number]; }
    [[nodiscard]] std::span<const ColumnRecord> columns_of(const ArchetypeRecord& archetype) const noexcept {
        return {reinterpret_cast<const ColumnRecord*>(at(archetype.columns)), archetype.column_count};
    }
    // Of a component, plus one; zero: the archetype has no such column.
    [[nodiscard]] unsigned column_of(const ArchetypeRecord& archetype, ComponentId id) const noexcept {
        return id < archetype.column_map_bytes ? static_cast<unsigned>(at(archetype.column_map)[id]) : 0;
    }
    [[nodiscard]] BlockColumn* block(const ArchetypeRecord& archetype, std::uint32_t number) const noexcept {
        return reinterpret_cast<BlockColumn*>(at(archetype.blocks[number]));
    }
    [[nodiscard]] Expected<std::uint32_t> archetype_with(const ComponentMask& mask) noexcept;
    // With one component more or less.
    [[nodiscard]] Expected<std::uint32_t> neighbour(std::uint32_t archetype, ComponentId id,
                                                    bool adds) noexcept;
    // Null when one of the types is not registered, is no column or tag, or there is no room.
    [[nodiscard]] const SpawnPlan* make_plan(SpawnPlan& plan, std::span<const ComponentId> ids,
                                             Status& status) noexcept;
    [[nodiscard]] SpawnPlan& plan_of(std::uint32_t spawn_number) noexcept { return plans_[spawn_number]; }
    // Whether it is the one that had this hash, whatever was rolled back since.
    [[nodiscard]] bool is_archetype(std::uint32_t number, std::uint64_t chain_hash) const noexcept {
        return number < header_->archetype_count && archetypes_[number].chain_hash == chain_hash;
    }
    // The archetypes that a query asks for, as far as they exist.
    [[nodiscard]] std::span<const QueryMatch> matches_of(QueryCache& cache) noexcept;
    [[nodiscard]] QueryCache& cache_of(std::uint32_t query_number) noexcept { return queries_[query_number]; }

    // --- rows
    // Where the next entity of an archetype goes: its row is taken, its columns are declared and not written.
    [[nodiscard]] Expected<std::uint32_t> take_row(std::uint32_t number) noexcept {
        ArchetypeRecord& archetype = archetypes_[number];
        const std::uint32_t row = archetype.row_count;
        const DeclaredRows& declared = declared_[number];
        if (declared.added_group != row / 64 || declared.epoch != marks_.epoch()) [[unlikely]]
            if (const Status status = prepare_rows(number, 1); status != Status::ok) return status;
        archetype.row_count = row + 1;
        return row;
    }
    [[nodiscard]] bool has_free_slot() const noexcept {
        return header_->first_free != 0 || header_->used_slots < header_->max_entities;
    }
    // Requires: has_free_slot().
    [[nodiscard]] Entity take_slot(std::uint32_t archetype, std::uint32_t row) noexcept {
        std::uint32_t index = header_->used_slots;
        std::uint16_t generation = 1;
        declare_header();
        if (header_->first_free != 0) {
            index = header_->first_free - 1;
            header_->first_free = slots_[index].row;
            generation = slots_[index].generation;
        } else {
            ++header_->used_slots;
        }
        ++header_->live_entities;
        declare_slot(index) = {row, static_cast<std::uint16_t>(archetype), generation};
        return Entity(index, generation);
    }
    // One entity with columns that are not written yet, but for its name.
    [[nodiscard]] Expected<Entity> spawn_into(std::uint32_t number) noexcept {
        if (!has_free_slot()) [[unlikely]]
            return Status::capacity_exhausted;
        const auto row = take_row(number);
        if (!row) [[unlikely]]
            return row.status();
        const Entity entity = take_slot(number, *row);
        const RowPlace place = place_of_row(*row);
        cell<Entity>(block(archetypes_[number], place.block)[0], place.index) = entity;
        return entity;
    }
    // So many rows at once, as far as they lie side by side: at most `count`. Their names are written.
    struct Run {
        BlockColumn* columns;
        std::uint32_t first;
        std::uint32_t count;
    };
    [[nodiscard]] Expected<Run> spawn_run(std::uint32_t number, std::uint32_t count) noexcept;
    // Room for so many more, so that spawn_run does not fail for them. capacity_exhausted; blocks that were
    // added before that stay.
    Expected<void> reserve(std::uint32_t number, std::uint32_t count) noexcept;

    // Requires: alive.
    void destroy(Entity entity) noexcept;
    // All of an archetype at once.
    void destroy_all(std::uint32_t number) noexcept;
    // Into another archetype; what both have goes along, what is new is not written.
    [[nodiscard]] Expected<std::uint32_t> move(Entity entity, std::uint32_t target) noexcept;

    template <class T>
    [[nodiscard]] T& cell(const BlockColumn& column, std::uint32_t index) const noexcept {
        return reinterpret_cast<T*>(at(column.data))[index];
    }
    // Null when the entity has no such column. Requires: alive.
    [[nodiscard]] std::byte* find_cell(Entity entity, ComponentId id, std::size_t bytes) const noexcept {
        const EntitySlot slot = slots_[entity.index()];
        const ArchetypeRecord& archetype = archetypes_[slot.archetype];
        const unsigned column = column_of(archetype, id);
        if (column == 0) [[unlikely]]
            return nullptr;
        const RowPlace place = place_of_row(slot.row);
        return at(block(archetype, place.block)[column - 1].data) + place.index * bytes;
    }
    [[nodiscard]] BlockColumn* find_column(Entity entity, ComponentId id, RowPlace& place) const noexcept {
        const EntitySlot slot = slots_[entity.index()];
        const ArchetypeRecord& archetype = archetypes_[slot.archetype];
        const unsigned column = column_of(archetype, id);
        if (column == 0) [[unlikely]]
            return nullptr;
        place = place_of_row(slot.row);
        return block(archetype, place.block) + (column - 1);
    }

    // --- changes
    [[nodiscard]] ChangePlanes planes(BlockColumn& column, std::uint32_t block_rows) noexcept {
        return {heap_, column, block_rows, now()};
    }
    // Row of a column that is about to be written.
    void declare_cell(BlockColumn& column, std::uint32_t block_number, std::uint32_t index,
                      std::size_t bytes) noexcept {
        planes(column, rows_of_block(block_number)).mark(index);
        declare(at(column.data) + index * bytes, bytes);
    }
    // Rows of a column, all of a block as far as it is used.
    void declare_all(BlockColumn& column, std::uint32_t block_number, std::uint32_t rows,
                     std::size_t bytes) noexcept {
        if (column.tick != now() || column.now != Changes::all) declare(&column, sizeof(BlockColumn));
        planes(column, rows_of_block(block_number)).mark_all();
        declare(at(column.data), rows * bytes);
    }
    void declare(const void* address, std::size_t bytes) noexcept { heap_.mark(address, bytes); }

    // Walks everything: ok, or corrupt_data.
    [[nodiscard]] Status check() const noexcept;

    // In checked builds: how many loops visit rows at this moment.
    void change_iterations([[maybe_unused]] int by) noexcept {
#if OURO_ASSERT_LEVEL >= 1
        iterations_.fetch_add(by, std::memory_order_relaxed);
#endif
    }
    void expect_no_iteration() const noexcept {
        OURO_DEBUG_ASSERT(iterations_.load(std::memory_order_relaxed) == 0,
                          "rows are being visited: record the change as a command instead");
    }

private:
    // 64 rows of an archetype whose cells are declared in this epoch: those where rows are added, and those
    // where one was taken out last. Most calls find theirs.
    struct DeclaredRows {
        std::uint64_t epoch = 0;
        std::uint32_t added_group = 0;
        std::uint32_t hole_group = 0;
    };
    static constexpr std::uint32_t kNoGroup = UINT32_MAX;
    struct Transition {
        std::uint64_t chain_hash = 0;
        std::uint64_t target_hash = 0;
        std::uint32_t key = 0;
        std::uint32_t target = 0;
    };
    static constexpr std::uint32_t kTransitions = 1024;
    static constexpr std::uint32_t kSlotsALine = kStateLineBytes / sizeof(EntitySlot);

    [[nodiscard]] bool has_sound_tables() const noexcept;
    [[nodiscard]] bool has_sound_slots() const noexcept;
    [[nodiscard]] bool is_sound(const ArchetypeRecord& archetype) const noexcept;
    [[nodiscard]] bool is_sound_block(const ArchetypeRecord& archetype, std::uint32_t number) const noexcept;

    [[nodiscard]] Expected<ComponentId> add_component_of_type(
        std::uint32_t type, const ComponentDescription& description) noexcept;
    void find_ids_again() const noexcept;
    void carve(MemoryBlock outside, std::uint32_t max_archetypes) noexcept;
    void take_places() noexcept;

    // Of this epoch.
    DeclaredRows& declared_rows(std::uint32_t number) noexcept {
        DeclaredRows& declared = declared_[number];
        if (declared.epoch != marks_.epoch()) [[unlikely]] {
            declared = {marks_.epoch(), kNoGroup, kNoGroup};
            declare(&archetypes_[number], sizeof(ArchetypeRecord));
        }
        return declared;
    }
    // Requires: its block is there.
    void declare_group(const ArchetypeRecord& archetype, std::uint32_t group) noexcept;
    void declare_hole(std::uint32_t number, std::uint32_t row) noexcept {
        DeclaredRows& declared = declared_rows(number);
        if (declared.hole_group == row / 64) return;
        declare_group(archetypes_[number], row / 64);
        declared.hole_group = row / 64;
    }
    [[nodiscard]] Status prepare_rows(std::uint32_t number, std::uint32_t count) noexcept;
    void note_added(ArchetypeRecord& archetype) noexcept;
    [[nodiscard]] Status add_block(ArchetypeRecord& archetype) noexcept;
    [[nodiscard]] Status make_columns(std::span<const ColumnRecord> columns, BlockColumn* made,
                                      std::uint32_t rows) noexcept;
    void give_back(std::span<const ColumnRecord> columns, const BlockColumn* made,
                   std::uint32_t rows) noexcept;
    [[nodiscard]] Expected<std::uint32_t> take_column(Heat heat, std::uint64_t bytes,
                                                      unsigned column) noexcept;
    void declare_header() noexcept {
        if (header_epoch_ == marks_.epoch()) return;
        declare(header_, sizeof(WorldHeader));
        header_epoch_ = marks_.epoch();
    }
    // Slots are often touched one behind the other: two places are remembered, of the entities themselves and
    // of those that are moved for them.
    struct DeclaredSlots {
        std::uint64_t epoch = 0;
        std::uint32_t group = 0;
    };
    EntitySlot& declare_slot(std::uint32_t index, DeclaredSlots& declared) noexcept {
        EntitySlot& slot = slots_[index];
        if (index / kSlotsALine != declared.group || declared.epoch != marks_.epoch()) [[unlikely]] {
            declare(&slot, sizeof(slot));
            declared = {marks_.epoch(), index / kSlotsALine};
        }
        return slot;
    }
    EntitySlot& declare_slot(std::uint32_t index) noexcept { return declare_slot(index, own_slots_); }
    EntitySlot& declare_moved_slot(std::uint32_t index) noexcept { return declare_slot(index, moved_slots_); }
    void free_slot(std::uint32_t index) noexcept;
    void remove_row(std::uint32_t number, std::uint32_t row) noexcept;
    void move_last_into(ArchetypeRecord& archetype, std::uint32_t row, std::uint32_t last) noexcept;
    void copy_shared(const ArchetypeRecord& source, RowPlace from, const ArchetypeRecord& target,
                     RowPlace to) noexcept;

    [[nodiscard]] Expected<std::uint32_t> make_archetype(const ComponentMask& mask) noexcept;
    // The numbers of the archetypes are known by their masks, whatever happened since the last look.
    void catch_up() noexcept;
    void note_archetype(std::uint32_t number) noexcept;
    [[nodiscard]] std::uint32_t find_archetype(const ComponentMask& mask) const noexcept;

    StateRing* ring_;
    ImageHeap heap_;
    DirtyMap marks_;
    std::byte* base_;
    WorldHeader* header_ = nullptr;
    EntitySlot* slots_ = nullptr;
    ArchetypeRecord* archetypes_ = nullptr;
    ComponentRecord* components_ = nullptr;

    // Outside the image; all of it can be found again from there.
    std::uint64_t header_epoch_ = 0;
    DeclaredSlots own_slots_;
    DeclaredSlots moved_slots_;
    std::span<DeclaredRows> declared_;
    // Of the types that were registered ever; their ids, as long as the registry has this hash.
    std::span<std::string_view> name_of_type_;
    std::span<ComponentId> component_of_type_;
    mutable std::uint64_t known_registry_ = 0;
    std::span<SpawnPlan> plans_;
    std::span<QueryCache> queries_;
    std::span<Transition> transitions_;
    // Open addressing; numbers plus one.
    std::span<std::uint32_t> by_mask_;
    std::uint32_t known_archetypes_ = 0;
    std::uint64_t known_hash_ = 0;
    std::atomic<int> iterations_ = 0;
};

// While rows are visited.
class IterationScope {
public:
    explicit IterationScope(WorldCore& core) noexcept : core_(core) { core_.change_iterations(1); }
    ~IterationScope() { core_.change_iterations(-1); }
    IterationScope(const IterationScope&) = delete;
    IterationScope& operator=(const IterationScope&) = delete;

private:
    WorldCore& core_;
};

}  // namespace detail
}  // namespace ouro
