#include "foreign_campaign.hpp"
#include "ring/lua_scene.hpp"

namespace ouro::testing_support {
namespace {

using scenes::LuaScene;

TEST(LuaRollback, AThousandTimesByteForByte) {
    run_campaign<LuaScene>(Tracking::kernel, campaign_rollbacks(), 1);
}

TEST(LuaRollback, WithPageProtectionToo) {
    run_campaign<LuaScene>(Tracking::protect, 60, 2);
}

TEST(LuaRollback, AndByComparingToo) {
    run_campaign<LuaScene>(Tracking::compare, 60, 3);
}

}  // namespace
}  // namespace ouro::testing_support
