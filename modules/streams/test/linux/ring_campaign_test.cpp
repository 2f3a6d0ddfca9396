// The same as ring_oracle_test with other seeds: one of them, or a million steps with OURO_TEST_LONG.
#include "ring_oracle_cases.hpp"

#include <cstdlib>

namespace ouro::testing_support {
namespace {

class RingCampaign : public testing::TestWithParam<OracleCase> {};

// Larger rings take long in builds that check.
std::uint64_t steps_of(const OracleCase& with) {
    if (std::getenv("OURO_TEST_LONG") == nullptr) return 1;
    return with.burst_pages != 0 && OURO_ASSERT_LEVEL != 0 ? 100'000 : 1'000'000;
}

TEST_P(RingCampaign, EveryTickStaysAsItWas) {
    constexpr std::uint64_t kFirstSeed = 4;
    run_oracles(GetParam(), kFirstSeed, steps_of(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Trackers, RingCampaign, testing::ValuesIn(kOracleCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace ouro::testing_support
