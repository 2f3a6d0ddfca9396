#pragma once

#include "harness/session.hpp"

// Each function measures one subject.
namespace ouro::bench {

void measure_empty_jobs(Session& session);
void measure_loops(Session& session);
void measure_graphs(Session& session);

}  // namespace ouro::bench
