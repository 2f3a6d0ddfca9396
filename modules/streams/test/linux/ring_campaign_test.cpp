// The same as ring_oracle_test with other seeds: one of them, or a million steps with OURO_TEST_LONG.
#include "ring_oracle_cases.hpp"

#include <cstdlib>

namespace ouro::testing_support {
namespace {

class RingCampaign : public testing::TestWithParam<OracleCase> {};

TEST_P(RingCampaign, EveryTickStaysAsItWas) {
    constexpr std::uint64_t kFirstSeed = 4;
    const std::uint64_t steps = std::getenv("OURO_TEST_LONG") != nullptr ? 1'000'000 : kOracleSteps;
    run_oracles(GetParam(), kFirstSeed, (steps + kOracleSteps - 1) / kOracleSteps);
}

INSTANTIATE_TEST_SUITE_P(Trackers, RingCampaign, testing::ValuesIn(kOracleCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace ouro::testing_support
