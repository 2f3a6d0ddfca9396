#include "foreign_campaign.hpp"
#include "ring/sqlite_scene.hpp"

namespace ouro::testing_support {
namespace {

using scenes::SqliteScene;

TEST(SqliteRollback, AThousandTimesByteForByte) {
    run_campaign<SqliteScene>(Tracking::kernel, campaign_rollbacks(), 1);
}

TEST(SqliteRollback, WithPageProtectionToo) {
    run_campaign<SqliteScene>(Tracking::protect, 60, 2);
}

TEST(SqliteRollback, AndByComparingToo) {
    run_campaign<SqliteScene>(Tracking::compare, 60, 3);
}

}  // namespace
}  // namespace ouro::testing_support
