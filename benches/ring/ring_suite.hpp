#pragma once

#include <vector>

namespace ouro::bench {

class Session;

// Memory that lives one frame and is looked at for one more.
void measure_frame_streams(Session& session);
// The state ring: the end of a tick, and going back.
void measure_commits(Session& session);
void measure_rollbacks(Session& session);
// What it costs to declare writes, what a second thread is worth, and what others do.
void measure_marks(Session& session);
void measure_workers(Session& session);
void measure_snapshot_peers(Session& session);
// The heap in the image, and the types that live there.
void measure_sim_types(Session& session);
// Lua, Bullet and SQLite in the ring, where they are installed: their files add themselves.
using ForeignMeasure = void (*)(Session& session);
std::vector<ForeignMeasure>& foreign_measures();
void measure_foreign_code(Session& session);
// A history that is packed.
void measure_packing(Session& session);

}  // namespace ouro::bench
