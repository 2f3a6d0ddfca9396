#pragma once

namespace ouro::bench {

class Session;

// What tags and budgets add to an allocation.
void measure_charges(Session& session);
// The same in instructions, where Valgrind is installed.
void measure_instructions(Session& session);
void measure_profiler(Session& session);
void measure_pressure(Session& session);

}  // namespace ouro::bench
