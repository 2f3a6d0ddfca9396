#pragma once

#include "harness/session.hpp"

// Each function measures one subject.
namespace ouro::bench {

void measure_creation(Session& session);
void measure_destruction(Session& session);
void measure_iteration(Session& session);
void measure_access(Session& session);
void measure_component_changes(Session& session);
void measure_change_detection(Session& session);
void measure_two_threads(Session& session);
void measure_deferred_changes(Session& session);
void measure_saving(Session& session);
void measure_history(Session& session);
void measure_wasm(Session& session);

}  // namespace ouro::bench
