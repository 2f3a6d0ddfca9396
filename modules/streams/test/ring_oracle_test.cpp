#include "ring_oracle_cases.hpp"

namespace ouro::testing_support {
namespace {

class RingOracleCase : public testing::TestWithParam<OracleCase> {};

TEST_P(RingOracleCase, EveryTickStaysAsItWas) {
    for (std::uint64_t seed = 1; seed <= 3 && !HasFatalFailure() && !IsSkipped(); ++seed)
        run_oracle(GetParam(), seed);
}

INSTANTIATE_TEST_SUITE_P(Trackers, RingOracleCase, testing::ValuesIn(kOracleCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace ouro::testing_support
