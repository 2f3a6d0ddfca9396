// The same as ring_oracle_test with other seeds: one of them, or a million steps with OURO_TEST_LONG.
#include "ring_oracle_cases.hpp"

#include <cstdlib>

namespace ouro::testing_support {
namespace {

class RingCampaign : public testing::TestWithParam<OracleCase> {};

TEST_P(RingCampaign, EveryTickStaysAsItWas) {
    constexpr std::uint64_t kFirstSeed = 4;
    const bool is_long = std::getenv("OURO_TEST_LONG") != nullptr;
    // Steps of the larger ones take far longer.
    const std::uint64_t steps = GetParam().burst_pages != 0 ? 50'000 : 1'000'000;
    run_oracles(GetParam(), kFirstSeed, is_long ? steps : 1);
}

INSTANTIATE_TEST_SUITE_P(Trackers, RingCampaign, testing::ValuesIn(kOracleCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace ouro::testing_support
