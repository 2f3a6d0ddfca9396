#include "jobs_storm.hpp"

#include <cstdlib>

namespace ouro {
namespace {

// The storms of jobs_concurrent_test with other seeds, and with OURO_TEST_LONG very many of them.
TEST(JobsCampaign, SurvivesManyStorms) {
    constexpr std::uint64_t kFirst = 100;
    const std::uint64_t count = std::getenv("OURO_TEST_LONG") != nullptr ? 500 : 10;
    for (std::uint64_t seed = kFirst; seed < kFirst + count; ++seed) {
        jobs_test::run_storm(seed);
        if (HasFailure()) return;
    }
}

}  // namespace
}  // namespace ouro
