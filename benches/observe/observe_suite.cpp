#include "observe/observe_suite.hpp"

#include "harness/suite.hpp"

namespace ouro::bench {
namespace {

void run_observe(Session& session) {
    measure_charges(session);
    measure_instructions(session);
    measure_profiler(session);
    measure_pressure(session);
}

const RegisteredSuite kRegistered({"observe", "what tags, budgets and the profiler cost", run_observe});

}  // namespace
}  // namespace ouro::bench
