#include "os/os_suite.hpp"

#include "harness/suite.hpp"

namespace ouro::bench {
namespace {

void run_os(Session& session) {
    measure_calls(session);
    measure_faults(session);
    measure_maps(session);
    measure_kernel_tracking(session);
    measure_scans(session);
    measure_fault_tracking(session);
    measure_copies(session);
    measure_threads(session);
    measure_stacks(session);
}

const RegisteredSuite kRegistered({"os", "what the system and our wrappers around it cost", run_os});

}  // namespace
}  // namespace ouro::bench
