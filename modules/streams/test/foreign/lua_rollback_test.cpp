#include "foreign_campaign.hpp"
#include "ring/lua_scene.hpp"

namespace ouro::testing_support {
namespace {

using scenes::LuaScene;

class LuaCampaign : public testing::TestWithParam<std::uint64_t> {};

TEST_P(LuaCampaign, EveryRollbackIsByteForByte) {
    run_campaign<LuaScene>(Tracking::kernel, rollbacks_in_part(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Parts, LuaCampaign, testing::Range(std::uint64_t{1}, kCampaignParts + 1));

TEST(LuaRollback, WithPageProtectionToo) {
    run_campaign<LuaScene>(Tracking::protect, 60, 100);
}

TEST(LuaRollback, AndByComparingToo) {
    run_campaign<LuaScene>(Tracking::compare, 60, 101);
}

}  // namespace
}  // namespace ouro::testing_support
