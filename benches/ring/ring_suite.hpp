#pragma once

namespace ouro::bench {

class Session;

// Memory that lives one frame and is looked at for one more.
void measure_frame_streams(Session& session);

}  // namespace ouro::bench
