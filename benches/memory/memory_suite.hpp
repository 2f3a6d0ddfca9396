#pragma once

#include "harness/session.hpp"

namespace ouro::bench {

void measure_frames(Session& session);

}  // namespace ouro::bench
