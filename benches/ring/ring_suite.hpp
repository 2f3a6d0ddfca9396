#pragma once

namespace ouro::bench {

class Session;

// Memory that lives one frame and is looked at for one more.
void measure_frame_streams(Session& session);
// The state ring: the end of a tick, and going back.
void measure_commits(Session& session);
void measure_rollbacks(Session& session);
// A history that is packed.
void measure_packing(Session& session);

}  // namespace ouro::bench
