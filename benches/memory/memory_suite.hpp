#pragma once

#include "harness/session.hpp"

namespace ouro::bench {

void measure_collections(Session& session);
void measure_frames(Session& session);

}  // namespace ouro::bench
