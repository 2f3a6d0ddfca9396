#pragma once

#include "harness/session.hpp"

namespace ouro::bench {

void measure_frames(Session& session);
void measure_tlsf(Session& session);
void measure_tlsf_space(Session& session);

}  // namespace ouro::bench
