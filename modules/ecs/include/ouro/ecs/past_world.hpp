#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/ecs/component.hpp>
#include <ouro/ecs/detail/past_rows.hpp>
#include <ouro/ecs/layout.hpp>
#include <ouro/ecs/world.hpp>
#include <ouro/streams/past_reader.hpp>
#include <ouro/streams/tick_view.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ouro {

template <class... Terms>
class PastQuery;

namespace detail {
class PastHold;
}

// A world as it was at a tick: to be read from any thread, while the simulation goes on. It, its queries and
// their copies refer to each other: one thread at a time uses all of them, and copies and destroys them;
// another thread asks the world for its own. The world outlives it, and its components were registered
// before.
//
//     const auto past = world.at(tick);
//     past->query<Entity, const Position&>().each([](Entity entity, const Position& position) { ... });
//     const auto health = past->get<Health>(ada);      // Expected<Health>: a copy
class PastWorld {
public:
    PastWorld(TickView view, const WorldHeader& header, std::string_view segment) noexcept
        : view_(std::move(view)), header_(header), segment_(segment) {}
    // Its queries go along.
    PastWorld(PastWorld&& other) noexcept;
    PastWorld& operator=(PastWorld&& other) noexcept;
    // When there are queries of it still, one of them keeps what it was.
    ~PastWorld();

    [[nodiscard]] Tick tick() const noexcept { return view_.tick(); }
    [[nodiscard]] const TickView& view() const noexcept { return view_; }
    [[nodiscard]] const WorldHeader& header() const noexcept { return header_; }
    [[nodiscard]] std::string_view segment() const noexcept { return segment_; }
    [[nodiscard]] std::uint32_t entity_count() const noexcept { return header_.live_entities; }

    [[nodiscard]] bool is_alive(Entity entity) const noexcept { return find(entity).has_value(); }
    // A copy, of a column or of a sparse component. stale_handle when it was not there, not_found when it had
    // no such component, wrong_layout when that had other fields then.
    template <class T>
    [[nodiscard]] Expected<T> get(Entity entity) const noexcept {
        static_assert(!kIsTag<T>, "a tag has no value: ask has<T>(entity)");
        const auto place = find(entity);
        if (!place) return place.status();
        const auto id = find_type<T>(kComponentKind<T>);
        if (!id) return id.status();
        const auto cell = kIsSparse<T> ? find_sparse_cell(entity, *id) : find_cell(*place, *id);
        if (!cell) return cell.status();
        return PastReader(view_).load<T>(cell->column.data + std::uint64_t{cell->place.index} * sizeof(T));
    }
    template <class T>
    [[nodiscard]] bool has(Entity entity) const noexcept {
        const auto place = find(entity);
        const ComponentId id = id_of<T>();
        if (!place || id == kNoComponent) return false;
        if constexpr (kIsSparse<T>)
            return find_sparse_cell(entity, id).has_value();
        else
            return archetype(place->archetype).mask.has(id);
    }
    // Whether it had the component, and it was not switched off.
    template <class T>
    [[nodiscard]] bool is_enabled(Entity entity) const noexcept {
        const auto place = find(entity);
        const auto cell = place ? find_cell(*place, id_of<T>()) : Expected<Cell>(Status::not_found);
        if (!cell) return false;
        const std::uint64_t off = detail::past_disabled(view_, cell->column, rows_of_block(cell->place.block),
                                                        cell->place.index / 64 * 64);
        return (off >> (cell->place.index % 64) & 1) == 0;
    }
    // A copy of the value of which there was one for the world. not_found, wrong_layout.
    template <class T>
    [[nodiscard]] Expected<T> resource() const noexcept {
        const auto id = find_type<T>(ComponentKind::singleton);
        if (!id) return id.status();
        const std::uint32_t data = component(*id).data;
        if (data == 0) return Status::not_found;
        return PastReader(view_).load<T>(data);
    }

    // What Query is for the present. Terms that write are refused. It may outlive this object, and keeps the
    // tick as long.
    template <class... Terms>
    [[nodiscard]] PastQuery<Terms...> query() const noexcept {
        return PastQuery<Terms...>(*this);
    }

    // kNoComponent when there was none at that tick. Its number may have been another than today.
    [[nodiscard]] ComponentId find_component(std::string_view name) const noexcept;
    template <class T>
    [[nodiscard]] ComponentId id_of() const noexcept {
        if constexpr (std::is_same_v<T, Entity>)
            return kEntityComponent;
        else
            return find_type<T>(kComponentKind<T>).value_or(kNoComponent);
    }
    // stale_handle.
    [[nodiscard]] Expected<EntitySlot> find(Entity entity) const noexcept;
    // Requires: it was there.
    [[nodiscard]] ComponentRecord component(ComponentId id) const noexcept {
        return read<ComponentRecord>(header_.components + std::uint64_t{id} * sizeof(ComponentRecord));
    }
    // Requires: a sparse component of that tick.
    [[nodiscard]] SparseTable sparse_table(ComponentId id) const noexcept {
        return read<SparseTable>(component(id).data);
    }
    // The entity's row plus one, or zero.
    [[nodiscard]] std::uint32_t sparse_row(const SparseTable& table, Entity entity) const noexcept;
    // Requires: it was there.
    [[nodiscard]] ArchetypeRecord archetype(std::uint32_t number) const noexcept {
        return read<ArchetypeRecord>(header_.archetypes + std::uint64_t{number} * sizeof(ArchetypeRecord));
    }
    [[nodiscard]] BlockColumn block_column(const ArchetypeRecord& archetype, std::uint32_t block,
                                           unsigned column) const noexcept {
        return read<BlockColumn>(archetype.blocks[block] + std::uint64_t{column} * sizeof(BlockColumn));
    }
    // Of a component, plus one; zero: the archetype had no such column.
    [[nodiscard]] unsigned column_of(const ArchetypeRecord& archetype, ComponentId id) const noexcept {
        return id < archetype.column_map_bytes ? read<std::uint8_t>(std::uint64_t{archetype.column_map} + id)
                                               : 0U;
    }
    template <class T>
    [[nodiscard]] T read(std::uint64_t offset) const noexcept {
        const auto value = PastReader(view_).load<T>(offset);
        OURO_ASSERT(value.has_value(), "what a world refers to lies in the image");
        return *value;
    }

private:
    // Where a value is.
    struct Cell {
        BlockColumn column;
        RowPlace place;
    };

    // not_found; wrong_layout when the one of that name is another.
    template <class T>
    [[nodiscard]] Expected<ComponentId> find_type(ComponentKind kind) const noexcept {
        const ComponentId id = find_component(component_name<T>());
        if (id == kNoComponent) return Status::not_found;
        const ComponentRecord record = component(id);
        std::uint64_t layout_hash = 0;
        if constexpr (!kIsTag<T>) layout_hash = layout_hash_of<T>();
        const bool is_same = record.kind == kind && record.layout_hash == layout_hash &&
                             record.bytes == (kIsTag<T> ? 0 : sizeof(T));
        return is_same ? Expected<ComponentId>(id) : Status::wrong_layout;
    }
    // not_found.
    [[nodiscard]] Expected<Cell> find_cell(EntitySlot slot, ComponentId id) const noexcept;
    [[nodiscard]] Expected<Cell> find_sparse_cell(Entity entity, ComponentId id) const noexcept;
    friend class detail::PastHold;
    void tell_holds() noexcept;

    TickView view_;
    WorldHeader header_;
    // Of the ring, which outlives it.
    std::string_view segment_;
    // The first of those of its queries.
    mutable detail::PastHold* holds_ = nullptr;
};

namespace detail {

// By which a query refers to a past world. Those of one world are a list: when the world goes, it moves into
// the first of them, so that a query of a temporary is as good as any other.
class PastHold {
public:
    explicit PastHold(const PastWorld& past) noexcept { join(past); }
    PastHold(const PastHold& other) noexcept { join(*other.past_); }
    PastHold& operator=(const PastHold& other) noexcept {
        if (past_ == other.past_) return *this;
        leave();
        join(*other.past_);
        return *this;
    }
    ~PastHold() { leave(); }

    [[nodiscard]] const PastWorld& operator*() const noexcept { return *past_; }
    [[nodiscard]] const PastWorld* operator->() const noexcept { return past_; }

private:
    friend class ouro::PastWorld;

    void join(const PastWorld& past) noexcept;
    void leave() noexcept;

    const PastWorld* past_ = nullptr;
    PastHold* next_ = nullptr;
    // What refers to this one: the world's first, or another's next.
    PastHold** link_ = nullptr;
    std::optional<PastWorld> kept_;
};

}  // namespace detail

}  // namespace ouro

#include <ouro/ecs/past_query.hpp>
