#include "foreign_campaign.hpp"
#include "ring/bullet_scene.hpp"

namespace ouro::testing_support {
namespace {

using scenes::BulletScene;

TEST(BulletRollback, AThousandTimesByteForByte) {
    run_campaign<BulletScene>(Tracking::kernel, campaign_rollbacks(), 1);
}

TEST(BulletRollback, WithPageProtectionToo) {
    run_campaign<BulletScene>(Tracking::protect, 60, 2);
}

TEST(BulletRollback, AndByComparingToo) {
    run_campaign<BulletScene>(Tracking::compare, 60, 3);
}

}  // namespace
}  // namespace ouro::testing_support
