#include "ring/ring_suite.hpp"

#include "harness/suite.hpp"

namespace ouro::bench {
namespace {

void run_ring(Session& session) {
    measure_frame_streams(session);
    measure_commits(session);
    measure_rollbacks(session);
    measure_marks(session);
    measure_workers(session);
    measure_snapshot_peers(session);
    measure_sim_types(session);
    measure_foreign_code(session);
    measure_packing(session);
}

const RegisteredSuite kRegistered({"ring", "the state ring and the streams around it", run_ring});

}  // namespace
}  // namespace ouro::bench
