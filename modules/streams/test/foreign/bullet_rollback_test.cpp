#include "foreign_campaign.hpp"
#include "ring/bullet_scene.hpp"

namespace ouro::testing_support {
namespace {

using scenes::BulletScene;

class BulletCampaign : public testing::TestWithParam<std::uint64_t> {};

TEST_P(BulletCampaign, EveryRollbackIsByteForByte) {
    run_campaign<BulletScene>(Tracking::kernel, rollbacks_in_part(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Parts, BulletCampaign, testing::Range(std::uint64_t{1}, kCampaignParts + 1));

TEST(BulletRollback, WithPageProtectionToo) {
    run_campaign<BulletScene>(Tracking::protect, 60, 100);
}

TEST(BulletRollback, AndByComparingToo) {
    run_campaign<BulletScene>(Tracking::compare, 60, 101);
}

}  // namespace
}  // namespace ouro::testing_support
