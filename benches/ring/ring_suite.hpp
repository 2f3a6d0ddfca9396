#pragma once

namespace ouro::bench {

class Session;

// The state ring: the end of a tick, and going back.
void measure_commits(Session& session);
void measure_rollbacks(Session& session);

}  // namespace ouro::bench
