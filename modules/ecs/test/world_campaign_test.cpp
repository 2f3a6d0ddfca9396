#include "world_model.hpp"

namespace ouro {
namespace {

using namespace testing_support;

// A slice for every day.
TEST(WorldCampaign, MatchesTheModel) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        EcsRig rig(std::uint64_t{2} << 20, {.max_entities = 3'500, .max_archetypes = 64});
        ASSERT_TRUE(rig.is_ready());
        WorldCampaign(rig, seed).run(6'000);
    }
}

}  // namespace
}  // namespace ouro
