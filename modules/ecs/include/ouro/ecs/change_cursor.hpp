#pragma once

#include <ouro/ecs/world.hpp>
#include <ouro/streams/state_ring.hpp>

#include <cstdint>

namespace ouro {

// For who keeps something of a world outside its image, as a renderer does, and brings it up to date now and
// then. The ticks of columns tell what changed along the line of ticks that led here; after a rollback or a
// load that is another line, and what the abandoned one had changed is different too: then everything passes.
//
//     ChangeCursor cursor;
//     query.each_changed_since<Health>(cursor.advance(world), draw);
//
// Of one world. Not for the image: there, a tick in a resource goes back with the world.
class ChangeCursor {
public:
    // The tick for each_changed_since, and moves on to the tick that is being made.
    [[nodiscard]] std::uint32_t advance(const World& world) noexcept {
        const std::uint64_t line = world.ring().stats().rollbacks + world.loads();
        // A tick that lies ahead lets everything pass.
        const std::uint32_t since = has_looked_ && line == line_ ? tick_ : world.tick() + 1;
        has_looked_ = true;
        line_ = line;
        tick_ = world.tick();
        return since;
    }
    // What comes next sees everything.
    void forget() noexcept { has_looked_ = false; }

private:
    bool has_looked_ = false;
    std::uint32_t tick_ = 0;
    // Rollbacks of the ring and loads of the world so far.
    std::uint64_t line_ = 0;
};

}  // namespace ouro
