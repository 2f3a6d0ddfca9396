#pragma once

#include <vector>

namespace ouro::bench {

class Session;

// Memory that lives one frame and is looked at for one more.
void measure_frame_streams(Session& session);
// The state ring: the end of a tick, and going back.
void measure_commits(Session& session);
void measure_rollbacks(Session& session);
// Lua, Bullet and SQLite in the ring, where they are installed: their files add themselves.
using ForeignMeasure = void (*)(Session& session);
std::vector<ForeignMeasure>& foreign_measures();
void measure_foreign_code(Session& session);

}  // namespace ouro::bench
