#pragma once

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

}  // namespace ouro::bench
