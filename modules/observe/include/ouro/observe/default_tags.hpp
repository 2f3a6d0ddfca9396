#pragma once

#include <ouro/memory/tag.hpp>

namespace ouro {

// The categories that most games have, ready to use; a program adds its own with register_tag, below these or
// beside them.
struct DefaultTags {
    Tag game;
    // Below game.
    Tag creatures;
    Tag components;
    Tag behaviours;
    Tag world;
    // Beside it.
    Tag rendering;
    Tag ui;
    Tag audio;
    Tag physics;
    Tag network;
    Tag assets;
    Tag temporary;
    Tag tooling;
};

// Registered by the first call, from any thread. A name that the program has registered before is the
// program's tag, wherever it stands in the tree; one for which the table has no room is untagged, which means
// everything.
[[nodiscard]] const DefaultTags& default_tags() noexcept;

}  // namespace ouro
