// Where SQLite keeps state that its hook knows nothing of, and what is done about it.
#include "child_process.hpp"
#include "foreign_world.hpp"
#include "ring/sqlite_scene.hpp"

#include <ouro/streams/escape_scope.hpp>

namespace ouro::testing_support {
namespace {

using scenes::SqliteScene;
using World = ForeignWorld<SqliteScene>;

// Back by ten ticks and forth again; false when the outcome is another one.
bool repeats(World& world) {
    world.advance(20);
    const std::uint64_t first = world.hash(world.ring().newest());
    const Tick newest = world.ring().newest();
    if (!world.ring().rollback(newest - 10)) return false;
    world.advance(10);
    return world.hash(newest) == first;
}

// The page cache's lists and the random numbers are variables: without them SQLite works with pointers to
// what is no longer there. In a child, since it may well crash.
TEST(SqliteTraps, WithoutItsVariablesItDiffersOrDies) {
    for (const bool keeps : {true, false}) {
        const int outcome = os::testing_support::run_in_child([&] {
            World world;
            world.start({.keeps_libraries = keeps});
            if (testing::Test::HasFailure() || testing::Test::IsSkipped()) return 3;
            const int found = repeats(world) ? 0 : 1;
            // Without cleaning up what may be broken.
            ::_exit(found);
        });
        if (outcome == 3) GTEST_SKIP() << "needs userfaultfd_wp_async";
        EXPECT_EQ(outcome == 0, keeps) << outcome;
    }
}

[[gnu::noinline]] void step_from_below(World& world, Tick tick) {
    char room[1000] = {};
    asm volatile("" : : "r"(room) : "memory");
    world.scene().step(tick);
    asm volatile("" : : "r"(room) : "memory");
}

// It leaves addresses of its locals in blocks that it has freed.
TEST(SqliteTraps, CalledFromAnotherDepthTheBytesDiffer) {
    World world;
    world.start({});
    if (testing::Test::HasFatalFailure() || testing::Test::IsSkipped()) return;
    world.advance(5);
    const Tick tick = world.ring().newest();
    world.scene().step(tick + 1);
    world.commit();
    const WholeState first = WholeState::of(world);
    const double sum = world.scene().sum();
    ASSERT_TRUE(world.ring().rollback(tick));
    step_from_below(world, tick + 1);
    world.commit();
    EXPECT_NE(first.difference(world), "");
    // What it means is the same.
    EXPECT_EQ(world.scene().sum(), sum);
}

TEST(SqliteTraps, NothingEscapes) {
    World world;
    world.start({});
    if (testing::Test::HasFatalFailure() || testing::Test::IsSkipped()) return;
    constexpr std::array<std::string_view, 1> kLibrary = {"libsqlite3"};
    auto scope = EscapeScope::begin(kLibrary);
    ASSERT_TRUE(scope);
    EXPECT_GT(scope->import_count(), 1U);
    world.advance(60);
    EXPECT_EQ(scope->calls(), 0U);
}

// Statements, transactions and rows come back as their users see them.
TEST(SqliteTraps, RowsComeBack) {
    World world;
    world.start({});
    if (testing::Test::HasFatalFailure() || testing::Test::IsSkipped()) return;
    world.advance(10);
    const double sum = world.scene().sum();
    const bool is_open = sqlite3_get_autocommit(world.scene().database()) == 0;
    world.commit();
    const Tick tick = world.ring().newest();
    world.advance(23);
    EXPECT_NE(world.scene().sum(), sum);
    ASSERT_TRUE(world.ring().rollback(tick));
    EXPECT_EQ(world.scene().sum(), sum);
    EXPECT_EQ(sqlite3_get_autocommit(world.scene().database()) == 0, is_open);
    sqlite3_stmt* check = nullptr;
    ASSERT_EQ(sqlite3_prepare_v2(world.scene().database(), "PRAGMA integrity_check", -1, &check, nullptr),
              SQLITE_OK);
    ASSERT_EQ(sqlite3_step(check), SQLITE_ROW);
    EXPECT_STREQ(reinterpret_cast<const char*>(sqlite3_column_text(check, 0)), "ok");
    sqlite3_finalize(check);
}

}  // namespace
}  // namespace ouro::testing_support
