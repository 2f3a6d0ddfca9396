#include "jobs/jobs_suite.hpp"

#include "harness/suite.hpp"

namespace ouro::bench {
namespace {

void run_jobs(Session& session) {
    measure_empty_jobs(session);
    measure_loops(session);
    measure_graphs(session);
}

const RegisteredSuite kRegistered({"jobs", "sharing work out to threads, beside oneTBB", run_jobs});

}  // namespace
}  // namespace ouro::bench
