#pragma once

namespace ouro::bench {

class Session;

// What tags and budgets add to an allocation.
void measure_charges(Session& session);
// The same in instructions, where Valgrind is installed.
void measure_instructions(Session& session);

}  // namespace ouro::bench
