#include "memory/memory_suite.hpp"

#include "harness/suite.hpp"

namespace ouro::bench {
namespace {

void run_memory(Session& session) {
    measure_frames(session);
    measure_tlsf(session);
    measure_tlsf_space(session);
}

const RegisteredSuite kRegistered({"memory", "allocators beside those of others", run_memory});

}  // namespace
}  // namespace ouro::bench
