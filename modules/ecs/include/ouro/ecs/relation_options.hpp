#pragma once

#include <cstdint>

namespace ouro {

// What becomes of the sources when their target is destroyed.
enum class OnTargetGone : std::uint8_t { stay, follow };

// What a program says of a relation, by a specialization before its first use; see relations.hpp.
//
//     template <>
//     inline constexpr ouro::RelationOptions ouro::kRelationOptions<OwnedBy> = {.sources =
//     ouro::OnTargetGone::follow};
struct RelationOptions {
    OnTargetGone sources = OnTargetGone::stay;
    // Whether an entity may lead to itself, over others.
    bool allows_cycles = false;
    // Left as it is: whether something was said. Such a type is refused as a component.
    bool is_declared = true;
};

template <class R>
inline constexpr RelationOptions kRelationOptions = {.is_declared = false};

}  // namespace ouro
