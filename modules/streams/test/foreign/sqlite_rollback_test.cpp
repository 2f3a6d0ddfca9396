#include "foreign_campaign.hpp"
#include "ring/sqlite_scene.hpp"

namespace ouro::testing_support {
namespace {

using scenes::SqliteScene;

class SqliteCampaign : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SqliteCampaign, EveryRollbackIsByteForByte) {
    run_campaign<SqliteScene>(Tracking::kernel, rollbacks_in_part(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Parts, SqliteCampaign, testing::Range(std::uint64_t{1}, kCampaignParts + 1));

TEST(SqliteRollback, WithPageProtectionToo) {
    run_campaign<SqliteScene>(Tracking::protect, 60, 100);
}

TEST(SqliteRollback, AndByComparingToo) {
    run_campaign<SqliteScene>(Tracking::compare, 60, 101);
}

}  // namespace
}  // namespace ouro::testing_support
