#include "base/base_suite.hpp"

#include "harness/suite.hpp"

namespace ouro::bench {
namespace {

void run_base(Session& session) {
    measure_hashes(session);
    measure_random(session);
    measure_math(session);
}

const RegisteredSuite kRegistered({"base", "hashes, random numbers and deterministic functions", run_base});

}  // namespace
}  // namespace ouro::bench
