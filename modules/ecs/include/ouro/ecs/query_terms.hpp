#pragma once

#include <ouro/ecs/component.hpp>
#include <ouro/ecs/detail/switched_cells.hpp>
#include <ouro/ecs/detail/world_core.hpp>
#include <ouro/ecs/entity.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

// What a query can be made of; see query.hpp.
namespace ouro {

// Only entities that have T, or have it not.
template <class T>
struct With {};
template <class T>
struct Without {};
// A pointer that is null where the entity has none: Optional<T&> or Optional<const T&>.
template <class T>
struct Optional {};
// Only entities of which T was changed, or came, in this tick or in the one before: a system that runs once a
// tick misses none, wherever the writers stand.
template <class T>
struct Changed {};
// The same for this tick alone.
template <class T>
struct ChangedNow {};

// A component that counts as changed only when it is written.
//
//     Query<Mut<Health>>(world).each([](Mut<Health> health) { if (health->points < 0) health.edit().points =
//     0; });
template <class T>
class Mut {
public:
    Mut(detail::WorldCore& core, BlockColumn& column, std::uint32_t block, std::uint32_t index) noexcept
        : core_(&core), column_(&column), block_(block), index_(index) {}

    [[nodiscard]] const T& operator*() const noexcept { return core_->cell<T>(*column_, index_); }
    [[nodiscard]] const T* operator->() const noexcept { return &**this; }
    [[nodiscard]] T& edit() const noexcept {
        core_->declare_cell(*column_, block_, index_, sizeof(T));
        return core_->cell<T>(*column_, index_);
    }
    const Mut& operator=(const T& value) const noexcept {
        edit() = value;
        return *this;
    }

private:
    detail::WorldCore* core_;
    BlockColumn* column_;
    std::uint32_t block_;
    std::uint32_t index_;
};

namespace detail {

enum class TermRole : std::uint8_t {
    reads,
    writes,
    may_write,
    filters,
    excludes,
    changed,
    changed_now,
    joins
};

// A block of an archetype that is being visited.
struct BlockPlace {
    WorldCore* core;
    BlockColumn* columns;
    std::uint32_t number;
};

// For static_assert: refused with a message that says what to use.
template <class T>
consteval bool require_term() {
    if constexpr (!std::is_same_v<T, Entity>) {
        static_assert(require_component<T>());
        static_assert(kComponentKind<T> != ComponentKind::singleton,
                      "a singleton belongs to no entity: use Res<T>, world.resource<T>() or "
                      "past.resource<T>(); in bytes it lies at WorldReader::component(id)->data");
    }
    return true;
}

template <class T, TermRole kTheRole, bool kIsRequired>
struct TermBase {
    using Component = T;
    static constexpr TermRole kRole = kTheRole;
    static constexpr bool kRequired = kIsRequired;
    static constexpr bool kHandsOut =
        kRole == TermRole::reads || kRole == TermRole::writes || kRole == TermRole::may_write;
    // What is switched off is not there, to a query: the row is passed over where T is required, an optional
    // one is null, and Without<T> lets it pass.
    static constexpr bool kCanBeOff = !kIsTag<T> && kComponentOptions<T>.toggles;
    static constexpr bool kToggles = kCanBeOff && kRequired;
    static constexpr bool kIsNullWhenOff = kCanBeOff && kHandsOut && !kRequired;
    static constexpr bool kWantsOff = kCanBeOff && kRole == TermRole::excludes;
    static constexpr bool kWrites = kRole == TermRole::writes || kRole == TermRole::may_write;
    static_assert(require_term<T>());
    // It has no column: there is nothing to hand out, and nothing that counts changes.
    static_assert(!kIsTag<T> || kRole == TermRole::filters || kRole == TermRole::excludes,
                  "a tag has no value: use With<T>; on_add tells when it comes");
    static_assert(!std::is_same_v<T, Entity> || !kWrites, "a row's name cannot be written: use Entity");
    static_assert(kIsPlain<T> || !kWrites,
                  "names and relations are written by their own functions: use const T&");
};

// Goes on as a term that is one, so that nothing else is said.
template <class Term>
struct TermTraits : TermTraits<std::conditional_t<sizeof(Term*) == 0, Term, Entity>> {
    static_assert(sizeof(Term*) == 0,
                  "a query is made of T&, const T&, Mut<T>, Optional<...>, Entity, With<T>, Without<T>, "
                  "Changed<T> and ChangedNow<T>");
};

// Terms that hand a column's cells out by reference.
template <class T, TermRole kTheRole>
struct CellTerm : TermBase<std::remove_const_t<T>, kTheRole, true> {
    using Cells = T*;
    static Cells cells(const BlockPlace& place, unsigned column) noexcept {
        return reinterpret_cast<T*>(place.core->at(place.columns[column - 1].data));
    }
    static T& argument(Cells cells, std::uint32_t index) noexcept { return cells[index]; }
};
template <class T>
struct TermTraits<T&> : CellTerm<T, TermRole::writes> {};
template <class T>
struct TermTraits<const T&> : CellTerm<const T, TermRole::reads> {};

template <>
struct TermTraits<Entity> : TermBase<Entity, TermRole::reads, true> {
    using Cells = const Entity*;
    static Cells cells(const BlockPlace& place, unsigned /*column*/) noexcept {
        return reinterpret_cast<const Entity*>(place.core->at(place.columns[0].data));
    }
    static Entity argument(Cells cells, std::uint32_t index) noexcept { return cells[index]; }
};

template <class T, TermRole kTheRole>
struct OptionalTerm : TermBase<std::remove_const_t<T>, kTheRole, false> {
    using Cells = T*;
    static Cells cells(const BlockPlace& place, unsigned column) noexcept {
        return column == 0 ? nullptr : reinterpret_cast<T*>(place.core->at(place.columns[column - 1].data));
    }
    static T* argument(Cells cells, std::uint32_t index) noexcept {
        return cells == nullptr ? nullptr : cells + index;
    }
};
template <class T, TermRole kTheRole>
    requires(kComponentOptions<std::remove_const_t<T>>.toggles)
struct OptionalTerm<T, kTheRole> : TermBase<std::remove_const_t<T>, kTheRole, false> {
    using Cells = SwitchedCells<T>;
    static Cells cells(const BlockPlace& place, unsigned column) noexcept {
        if (column == 0) return {nullptr, nullptr};
        BlockColumn& own = place.columns[column - 1];
        return {reinterpret_cast<T*>(place.core->at(own.data)),
                place.core->planes(own, rows_of_block(place.number)).disabled_bits()};
    }
    static T* argument(const Cells& cells, std::uint32_t index) noexcept {
        return cells.is_there(index) ? cells.first + index : nullptr;
    }
    // Where none is off.
    static T* argument(T* first, std::uint32_t index) noexcept {
        return first == nullptr ? nullptr : first + index;
    }
};
template <class T>
struct TermTraits<Optional<T&>> : OptionalTerm<T, TermRole::writes> {};
template <class T>
struct TermTraits<Optional<const T&>> : OptionalTerm<const T, TermRole::reads> {};

template <class T>
struct TermTraits<Mut<T>> : TermBase<T, TermRole::may_write, true> {
    struct Cells {
        BlockPlace place;
        BlockColumn* column;
    };
    static Cells cells(const BlockPlace& place, unsigned column) noexcept {
        return {place, place.columns + (column - 1)};
    }
    static Mut<T> argument(const Cells& cells, std::uint32_t index) noexcept {
        return Mut<T>(*cells.place.core, *cells.column, cells.place.number, index);
    }
};

template <class T>
struct TermTraits<With<T>> : TermBase<T, TermRole::filters, true> {};
template <class T>
struct TermTraits<Without<T>> : TermBase<T, TermRole::excludes, false> {};
template <class T>
struct TermTraits<Changed<T>> : TermBase<T, TermRole::changed, true> {};
template <class T>
struct TermTraits<ChangedNow<T>> : TermBase<T, TermRole::changed_now, true> {};

// Those are no part of an archetype: they are joined to its rows, see joined_query.hpp.
template <class Term>
inline constexpr bool kIsSparseTerm = kIsSparse<typename TermTraits<Term>::Component>;
// What a term does to columns.
template <class Term>
inline constexpr TermRole kColumnRole = kIsSparseTerm<Term> ? TermRole::joins : TermTraits<Term>::kRole;

// Whether two terms hand out the same component, and one of them to be written: two references to one value.
template <class One, class Other>
inline constexpr bool kClashes =
    std::is_same_v<typename TermTraits<One>::Component, typename TermTraits<Other>::Component> &&
    TermTraits<One>::kHandsOut && TermTraits<Other>::kHandsOut &&
    (TermTraits<One>::kRole != TermRole::reads || TermTraits<Other>::kRole != TermRole::reads);
// Each term clashes with itself when it writes; with others none may.
template <class Term, class... Terms>
inline constexpr bool kIsHandedOutOnce =
    (std::size_t{0} + ... + (kClashes<Term, Terms> ? 1 : 0)) <= (kClashes<Term, Term> ? 1 : 0);

}  // namespace detail
}  // namespace ouro
