#pragma once

#include "harness/session.hpp"

namespace ouro::bench {

void measure_frames(Session& session);
void measure_partitions(Session& session);

}  // namespace ouro::bench
