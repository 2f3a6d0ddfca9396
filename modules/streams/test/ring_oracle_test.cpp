#include "ring_oracle_cases.hpp"

namespace ouro::testing_support {
namespace {

class RingOracleCase : public testing::TestWithParam<OracleCase> {};

TEST_P(RingOracleCase, EveryTickStaysAsItWas) {
    // The second lives longer.
    run_oracles(GetParam(), 1, oracle_steps(GetParam(), 1) + 1);
}

INSTANTIATE_TEST_SUITE_P(Trackers, RingOracleCase, testing::ValuesIn(kOracleCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace ouro::testing_support
