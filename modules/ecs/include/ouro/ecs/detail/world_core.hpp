#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/base/expected.hpp>
#include <ouro/ecs/detail/cell_places.hpp>
#include <ouro/ecs/detail/component_description.hpp>
#include <ouro/ecs/detail/declared_places.hpp>
#include <ouro/ecs/detail/event_log.hpp>
#include <ouro/ecs/detail/finding_scope.hpp>
#include <ouro/ecs/detail/query_cache.hpp>
#include <ouro/ecs/detail/row_plans.hpp>
#include <ouro/ecs/detail/system_scope.hpp>
#include <ouro/ecs/detail/type_number.hpp>
#include <ouro/ecs/detail/world_image.hpp>
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
    // Room outside the image for events that were not delivered yet; see observers.hpp.
    std::size_t event_bytes = std::size_t{1} << 20;
};
inline constexpr std::uint32_t kMaxArchetypes = kNoArchetype;

namespace detail {

class SparseSet;

// The storage of a world: everything without types. Structural changes are for one thread at a time.
class WorldCore : public WorldImage {
public:
    WorldCore(StateRing& ring, const ImageHeap& heap) noexcept : WorldImage(ring, heap) {}
    WorldCore(const WorldCore&) = delete;
    WorldCore& operator=(const WorldCore&) = delete;

    // How much memory outside the image a world takes, lazily.
    [[nodiscard]] static std::size_t outside_bytes(const WorldOptions& options) noexcept;
    // Writes an empty world, or takes what is there.
    Status begin(const WorldOptions& options, MemoryBlock outside) noexcept;
    Status attach(const WorldOptions& options, MemoryBlock outside) noexcept;

    // The tick ends: what is marked from now on is of the next one. Taken back when it could not end.
    //
    // Ticks of changes have 32 bits. Every kAgingTicks all that are older are brought to that age, so that
    // none looks new again; in between they are at most twice as old.
    static constexpr std::uint32_t kAgingTicks = std::uint32_t{1} << 30;
    void end_tick() noexcept;
    void take_back_tick() noexcept;

    // --- components; see world_types.hpp
    [[nodiscard]] Expected<ComponentId> add_component(const ComponentDescription& description) noexcept;
    using WorldImage::component;
    [[nodiscard]] ComponentId find_component(std::string_view name) const noexcept;
    template <class T>
    [[nodiscard]] Expected<ComponentId> component() noexcept;
    template <class T>
    [[nodiscard]] Expected<ComponentId> known_component() noexcept;
    [[nodiscard]] Expected<ComponentId> find_component_of_type(std::uint32_t type,
                                                               const ComponentDescription& own) noexcept;
    [[nodiscard]] const TypeClash& clash() const noexcept { return clash_; }
    [[nodiscard]] bool is_taken(std::string_view name) const noexcept;
    // kNoComponent when the type is not registered here, or was rolled back.
    template <class T>
    [[nodiscard]] ComponentId id_of() const noexcept;
    [[nodiscard]] ComponentId id_of_type(std::uint32_t type) const noexcept {
        refresh_ids();
        return component_of_type_[type];
    }
    // Finds the ids of types again where another registry is there than at the last look.
    void refresh_ids() const noexcept {
        if (known_registry_ != header_->registry_hash) [[unlikely]]
            find_ids_again();
    }
    // A component of which there is one for the world, with a value of zero. Fails as add_component does.
    [[nodiscard]] Expected<ComponentId> add_resource(std::uint32_t type,
                                                     ComponentDescription description) noexcept;

    // --- archetypes
    [[nodiscard]] Expected<std::uint32_t> archetype_with(const ComponentMask& mask) noexcept;
    // To the one with a component more or less. It holds until the next is asked for.
    [[nodiscard]] Expected<const MovePlan*> move_plan(std::uint32_t archetype, ComponentId id,
                                                      bool adds) noexcept {
        const std::uint32_t key = archetype << 16 | static_cast<std::uint32_t>(id) << 1 | (adds ? 1U : 0U);
        MovePlan& known = move_plans_[(key * 0x9e3779b1U) >> 22];
        static_assert(kMovePlans == 1U << 10);
        if (known.key == key && known.epoch == marks_.epoch()) [[likely]]
            return &known;
        return renew_move_plan(known, key);
    }
    [[nodiscard]] Expected<std::uint32_t> neighbour(std::uint32_t archetype, ComponentId id,
                                                    bool adds) noexcept {
        const auto plan = move_plan(archetype, id, adds);
        return plan ? Expected<std::uint32_t>((*plan)->target) : plan.status();
    }
    // Fails when one of the types is not registered, is no column or tag, or there is no room.
    [[nodiscard]] Status make_plan(SpawnPlan& plan, std::span<const ComponentId> ids) noexcept;
    [[nodiscard]] SpawnPlan& plan_of(std::uint32_t spawn_number) noexcept { return plans_[spawn_number]; }
    // The archetypes that a query asks for, as far as they exist. From any thread while nobody makes
    // archetypes.
    [[nodiscard]] std::span<const QueryMatch> matches_of(QueryCache& cache) noexcept;
    [[nodiscard]] std::atomic<bool>& finding() noexcept { return is_finding_; }
    [[nodiscard]] QueryCache& cache_of(std::uint32_t query_number) noexcept { return queries_[query_number]; }

    // --- cells of one entity; see world_cells.hpp
    template <class T>
    [[nodiscard]] bool find_known_cell(Entity entity, KnownCell& found) const noexcept;
    void declare_known(const KnownCell& cell, std::size_t bytes) noexcept;
    [[nodiscard]] BlockColumn* look_up_cell(std::uint32_t type, Entity entity, std::size_t bytes,
                                            RowPlace& place) const noexcept;

    // --- rows
    // Where the next entity of an archetype goes: its row is taken, its columns are declared and not written.
    [[nodiscard]] Expected<std::uint32_t> take_row(std::uint32_t number) noexcept {
        return take_row(archetypes_[number], declared_[number]);
    }
    [[nodiscard]] Expected<std::uint32_t> take_row(ArchetypeRecord& archetype,
                                                   DeclaredRows& declared) noexcept {
        const std::uint32_t row = archetype.row_count;
        if (declared.added_group != row / 64 || declared.epoch != marks_.epoch()) [[unlikely]]
            if (const Status status = prepare_rows(archetype, declared, 1); status != Status::ok)
                return status;
        archetype.row_count = row + 1;
        return row;
    }
    // Requires: has_free_slot().
    [[nodiscard]] Entity take_slot(std::uint32_t archetype, std::uint32_t row) noexcept;
    // One entity more in the window of a plan, and which of its cells are the entity's; false where there is
    // more to be done. Its slot is declared by declare_appended().
    [[nodiscard]] bool append(const SpawnPlan& plan, Entity& entity, std::uint32_t& index) noexcept;
    void declare_appended(Entity entity) noexcept;
    // Around a row that is declared.
    void open_window(SpawnPlan& plan, std::uint32_t row) noexcept;
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
        if (events_.is_watching()) [[unlikely]]
            record_added(entity, archetypes_[number].mask);
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
    // The same for entities that are there already, and for rows of no archetype.
    Status reserve_rows(ArchetypeRecord& archetype, std::uint32_t count) noexcept;
    // The last row takes its place; whose that is now, or null when it was the last.
    [[nodiscard]] Entity remove_row(ArchetypeRecord& archetype, DeclaredRows& declared,
                                    std::uint32_t row) noexcept;

    // With its sparse components, and with all that follows it. Requires: alive.
    void destroy(Entity entity) noexcept;
    // All of an archetype at once.
    void destroy_all(std::uint32_t number) noexcept;
    // Into another archetype; what both have goes along, what is new is not written.
    [[nodiscard]] Expected<std::uint32_t> move(Entity entity, const MovePlan& plan) noexcept;
    // All of an archetype, behind what the other one has, in their order. Requires: there is room.
    void move_all(std::uint32_t source, std::uint32_t target) noexcept;
    // Room for entities that are about to be moved: what is planned, then all at once. capacity_exhausted;
    // then nothing is planned any more.
    [[nodiscard]] Status plan_move(std::uint32_t archetype, ComponentId id, bool adds,
                                   std::uint32_t count) noexcept;
    [[nodiscard]] Status reserve_planned() noexcept;
    void forget_planned() noexcept;
    // What an entity is, once more, in an archetype with the same columns. capacity_exhausted. Requires:
    // alive.
    [[nodiscard]] Expected<Entity> clone(Entity entity, std::uint32_t archetype) noexcept;

    // --- sparse components; see sparse_set.hpp
    // Its record is declared.
    [[nodiscard]] SparseReady& ready_of(SparseTable& table) noexcept {
        SparseReady& ready = sparse_ready_[table.component];
        if (ready.epoch != marks_.epoch()) [[unlikely]] {
            declare(&table, sizeof(table));
            ready = {.rows = {}, .epoch = marks_.epoch(), .units = {}};
        }
        return ready;
    }
    void count_doomed(int by) noexcept { doomed_ += by; }
    // Names; see names.hpp.
    Status make_name_map() noexcept;
    void forget_name(const SparseSet& names, std::uint32_t row) noexcept;

    // --- events; see observers.hpp
    [[nodiscard]] EventLog& events() noexcept { return events_; }
    // By the ids of now.
    [[nodiscard]] const ComponentMask& watched(EventKind kind) const noexcept {
        refresh_ids();
        return events_.watched(kind);
    }
    [[nodiscard]] bool is_watching(EventKind kind, ComponentId id) const noexcept {
        return events_.is_watching() && watched(kind).has(id);
    }
    // Of this tick, once; again where it could not end.
    void record_changes() noexcept;
    void forget_recorded_changes() noexcept { changes_epoch_ = 0; }

    // Walks everything: ok, or corrupt_data.
    [[nodiscard]] Status check() const noexcept;

    // In checked builds: how many loops visit rows at this moment.
    void change_iterations([[maybe_unused]] int by) noexcept {
#if OURO_ASSERT_LEVEL >= 1
        iterations_.fetch_add(by, std::memory_order_relaxed);
#endif
    }
    void expect_no_iteration([[maybe_unused]] Entity entity) const noexcept {
#if OURO_ASSERT_LEVEL >= 1
        if (iterations_.load(std::memory_order_relaxed) != 0) visited_meanwhile(entity);
#endif
    }
    // The same, and the running system may change what there is.
    void expect_free(Entity entity) const noexcept {
        expect_no_iteration(entity);
        expect_structure(entity);
    }

private:
    friend class WorldLoader;

    static constexpr std::uint32_t kMovePlans = 1024;
    static constexpr std::uint32_t kSlotsALine = kStateLineBytes / sizeof(EntitySlot);

    [[nodiscard]] bool has_sound_tables() const noexcept;
    [[nodiscard]] bool has_sound_slots() const noexcept;
    [[nodiscard]] bool is_sound(const ArchetypeRecord& archetype) const noexcept;
    [[nodiscard]] bool has_sound_map(const ArchetypeRecord& archetype) const noexcept;
    [[nodiscard]] bool is_sound_block(const ArchetypeRecord& archetype, std::uint32_t number) const noexcept;
    [[nodiscard]] bool has_sound_sparse() const noexcept;
    [[nodiscard]] bool is_sound(const SparseTable& table) const noexcept;
    [[nodiscard]] bool has_sound_names(const SparseTable& table) const noexcept;
    [[nodiscard]] bool has_links(const SparseTable& table) const noexcept;
    [[nodiscard]] bool has_sound_links(const SparseTable& table) const noexcept;

    [[nodiscard]] Expected<ComponentId> add_component_of_type(
        std::uint32_t type, const ComponentDescription& description) noexcept;
    [[nodiscard]] Expected<ComponentId> check_kind(ComponentId id, ComponentKind kind) noexcept;
    Status check_name(std::uint32_t type, const ComponentDescription& own) noexcept;
    void find_ids_again() const noexcept;
    [[nodiscard]] ComponentId find_type(const KnownType& type) const noexcept;
    // What was found by the ids of types, whose names may be other types' now.
    void forget_types() noexcept;
    // Columns were made anew: what is known of their places and sizes.
    void forget_places() noexcept;
    [[nodiscard]] std::uint64_t hash_of_registry() const noexcept;
    [[nodiscard]] std::uint64_t hash_of_layout() const noexcept;
    void carve(MemoryBlock outside, const WorldOptions& options) noexcept;
    void take_places() noexcept;

    // Brings it to this epoch.
    void begin_epoch(ArchetypeRecord& archetype, DeclaredRows& declared) noexcept {
        if (declared.epoch == marks_.epoch()) return;
        declared = {.epoch = marks_.epoch()};
        declare(&archetype, sizeof(archetype));
    }
    // Requires: its block is there.
    void declare_groups(const ArchetypeRecord& archetype, std::uint32_t group, std::uint32_t count) noexcept;
    void declare_hole(ArchetypeRecord& archetype, DeclaredRows& declared, std::uint32_t row) noexcept {
        begin_epoch(archetype, declared);
        if (declared.hole_group == row / 64) return;
        declare_groups(archetype, row / 64, 1);
        declared.hole_group = row / 64;
    }
    [[nodiscard]] Status prepare_rows(ArchetypeRecord& archetype, DeclaredRows& declared,
                                      std::uint32_t count) noexcept;
    void note_added(ArchetypeRecord& archetype) noexcept;
    void age_marks() noexcept;
    void age_marks(ArchetypeRecord& archetype) noexcept;
    void age(std::uint32_t& tick) noexcept;
    [[nodiscard]] Status add_block(ArchetypeRecord& archetype) noexcept;
    [[nodiscard]] Status make_columns(std::span<const ColumnRecord> columns, BlockColumn* made,
                                      std::uint32_t rows) noexcept;
    void give_back(std::span<const ColumnRecord> columns, const BlockColumn* made,
                   std::uint32_t rows) noexcept;
    void give_back_column(const ColumnRecord& column, const BlockColumn& made, std::uint32_t rows,
                          unsigned number) noexcept;
    [[nodiscard]] Expected<std::uint32_t> take_column(Heat heat, std::uint64_t bytes,
                                                      unsigned column) noexcept;
    void declare_header() noexcept {
        if (header_epoch_ == marks_.epoch()) return;
        declare(header_, sizeof(WorldHeader));
        header_epoch_ = marks_.epoch();
    }
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
    void free_slots(std::span<const Entity> entities) noexcept;
    void remove_entity_row(std::uint32_t number, std::uint32_t row) noexcept {
        const Entity moved = remove_row(archetypes_[number], declared_[number], row);
        if (!moved.is_null()) declare_moved_slot(static_cast<std::uint32_t>(moved.index())).row = row;
    }
    [[nodiscard]] Entity move_last_into(ArchetypeRecord& archetype, std::uint32_t row,
                                        std::uint32_t last) noexcept;
    [[nodiscard]] bool has_sparse_rows() const noexcept;
    void leave_tables(Entity entity) noexcept;
    void destroy_one(Entity entity) noexcept;
    [[nodiscard]] Entity next_doomed() const noexcept;
    void copy_sparse(Entity from, Entity to) noexcept;
    void take_slots(std::uint32_t number, std::uint32_t row, std::span<Entity> names) noexcept;
    struct RowCopy {
        std::uint32_t count = 1;
        bool has_names = true;
    };
    void copy_rows(const ArchetypeRecord& source, RowPlace from, const ArchetypeRecord& target, RowPlace to,
                   RowCopy copy) noexcept;
    void copy_row(const MovePlan& plan, const ArchetypeRecord& source, RowPlace from,
                  const ArchetypeRecord& target, RowPlace to) noexcept;
    void record_added(Entity entity, const ComponentMask& mask) noexcept;
    void record_removed(Entity entity, const ComponentMask& mask) noexcept;
    void record_move(Entity entity, const ComponentMask& from, const ComponentMask& to) noexcept {
        record_removed(entity, from.without(to));
        record_added(entity, to.without(from));
    }
    void record_changes(const ArchetypeRecord& archetype, ComponentId id, unsigned column) noexcept;
    // All rows are gone.
    void forget_rows(ArchetypeRecord& archetype) noexcept;
    // The table of a sparse component that is being registered.
    Status add_sparse_table(ComponentRecord& record, ComponentId id, SparseRole role) noexcept;

    [[nodiscard]] Expected<const MovePlan*> renew_move_plan(MovePlan& plan, std::uint32_t key) noexcept;
    void pair_columns(MovePlan& plan, const ArchetypeRecord& source,
                      const ArchetypeRecord& target) const noexcept;
    [[nodiscard]] Expected<std::uint32_t> make_archetype(const ComponentMask& mask) noexcept;
    [[nodiscard]] std::span<const QueryMatch> find_matches(QueryCache& cache) noexcept;
    // The numbers of the archetypes are known by their masks, whatever happened since the last look.
    void catch_up() noexcept;
    void note_archetype(std::uint32_t number) noexcept;
    [[nodiscard]] std::uint32_t find_archetype(const ComponentMask& mask) const noexcept;

    // Outside the image; all of it can be found again from there.
    std::uint64_t header_epoch_ = 0;
    DeclaredSlots own_slots_;
    DeclaredSlots moved_slots_;
    std::span<DeclaredRows> declared_;
    std::span<SparseReady> sparse_ready_;
    // Moves into each archetype that are planned.
    std::span<std::uint32_t> planned_;
    // How many wait to be destroyed.
    int doomed_ = 0;
    // Follows the registry, as the ids of types do.
    mutable EventLog events_;
    std::uint64_t changes_epoch_ = 0;
    // The types that were looked for ever; their ids, as long as the registry has this hash.
    std::span<KnownType> types_;
    TypeClash clash_;
    mutable std::array<ComponentId, ComponentFamily::kLimit> component_of_type_;
    mutable std::uint64_t known_registry_ = 0;
    std::span<SpawnPlan> plans_;
    std::span<QueryCache> queries_;
    std::span<MovePlan> move_plans_;
    std::span<CellPlace> cell_places_;
    // Open addressing; numbers plus one.
    std::span<std::uint32_t> by_mask_;
    std::uint32_t known_archetypes_ = 0;
    std::uint64_t known_hash_ = 0;
    std::atomic<int> iterations_ = 0;
    std::atomic<bool> is_finding_ = false;
};

}  // namespace detail
}  // namespace ouro

#include <ouro/ecs/detail/world_cells.hpp>
#include <ouro/ecs/detail/world_rows.hpp>
#include <ouro/ecs/detail/world_types.hpp>
