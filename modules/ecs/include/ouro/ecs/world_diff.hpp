#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/ecs/past_world.hpp>
#include <ouro/ecs/world_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace ouro {

// One difference between two worlds. Everything that it refers to is good during the call only.
struct WorldChange {
    enum class Kind : std::uint8_t { spawned, destroyed, added, removed, changed, disabled, enabled };

    Kind kind = Kind::changed;
    // Null: a value of the whole world.
    Entity entity;
    // Empty for entities that came or went.
    std::string_view component = {};
    // Of `changed`: as it is, and as it was, which differs only where the programs did.
    const FieldRecord* field = nullptr;
    const FieldRecord* field_before = nullptr;
    // Of `changed` the field's bytes.
    std::span<const std::byte> before = {};
    std::span<const std::byte> after = {};
};

namespace detail {
using WorldChangeVisit = void (*)(void* function, const WorldChange& change);
Status diff_erased(const WorldReader& before, const WorldReader& after, const TickView* before_view,
                   const TickView* after_view, WorldChangeVisit visit, void* function) noexcept;
}  // namespace detail

// Calls with each WorldChange that leads from one world to another, down to single fields: first what belongs
// to the whole world, then by the entities' slots. Components and fields are the same when they have the same
// name. What an entity has that came or went is not listed. Fails with corrupt_data, and as os::reserve does.
//
//     diff_worlds(*world.at(100), *world.at(200), [](const WorldChange& change) { ... });
template <class Visit>
Status diff_worlds(const WorldReader& before, const WorldReader& after, Visit&& visit) noexcept {
    using Function = std::remove_reference_t<Visit>;
    return detail::diff_erased(
        before, after, nullptr, nullptr,
        [](void* function, const WorldChange& change) { (*static_cast<Function*>(function))(change); },
        const_cast<void*>(static_cast<const void*>(&visit)));
}

// The same for two views of one ring, of kept futures too: only what really differs is looked at.
template <class Visit>
Status diff_worlds(const TickView& before, const TickView& after, std::string_view segment,
                   Visit&& visit) noexcept {
    using Function = std::remove_reference_t<Visit>;
    const auto one = WorldReader::open(before, segment);
    if (!one) return one.status();
    const auto other = WorldReader::open(after, segment);
    if (!other) return other.status();
    return detail::diff_erased(
        *one, *other, &before, &after,
        [](void* function, const WorldChange& change) { (*static_cast<Function*>(function))(change); },
        const_cast<void*>(static_cast<const void*>(&visit)));
}
template <class Visit>
Status diff_worlds(const PastWorld& before, const PastWorld& after, Visit&& visit) noexcept {
    return diff_worlds(before.view(), after.view(), before.segment(), std::forward<Visit>(visit));
}

}  // namespace ouro
