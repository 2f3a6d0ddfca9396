#pragma once

#include "harness/session.hpp"

namespace ouro::bench {

// The parts of the suite, in the order of the table.
void measure_hashes(Session& session);
void measure_random(Session& session);
void measure_math(Session& session);

}  // namespace ouro::bench
