// The same as ring_oracle_test with other seeds: one of them, or a million steps with OURO_TEST_LONG. A
// failure names its seed; OURO_TEST_SEED=<seed> makes it the first.
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

std::uint64_t first_seed() {
    constexpr std::uint64_t kUsual = 4;
    const char* const given = std::getenv("OURO_TEST_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : kUsual;
}

TEST_P(RingCampaign, EveryTickStaysAsItWas) {
    run_oracles(GetParam(), first_seed(), steps_of(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Trackers, RingCampaign, testing::ValuesIn(kOracleCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace ouro::testing_support
