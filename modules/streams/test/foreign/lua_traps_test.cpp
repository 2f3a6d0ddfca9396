// What Lua is rolled back with, and what of it a hash should leave out.
#include "foreign_world.hpp"
#include "ring/lua_scene.hpp"

#include <ouro/os/clock.hpp>
#include <ouro/streams/escape_scope.hpp>
#include <ouro/streams/sync_test.hpp>

namespace ouro::testing_support {
namespace {

using scenes::LuaScene;
using World = ForeignWorld<LuaScene>;

TEST(LuaTraps, NothingEscapes) {
    World world;
    world.start({});
    if (testing::Test::HasFatalFailure() || testing::Test::IsSkipped()) return;
    constexpr std::array<std::string_view, 1> kLibrary = {"liblua5.4"};
    auto scope = EscapeScope::begin(kLibrary);
    ASSERT_TRUE(scope);
    EXPECT_GT(scope->import_count(), 0U);
    LuaScene::create(world.heap(), 10)->step(1);
    world.advance(60);
    EXPECT_EQ(scope->calls(), 0U);
}

TEST(LuaTraps, ScriptsSeeTheirPastAgain) {
    World world;
    world.start({});
    if (testing::Test::HasFatalFailure() || testing::Test::IsSkipped()) return;
    world.advance(10);
    const lua_Integer then = world.scene().checksum();
    const Tick tick = world.commit();
    world.advance(10);
    const lua_Integer later = world.scene().checksum();
    EXPECT_NE(later, then);
    ASSERT_TRUE(world.ring().rollback(tick));
    EXPECT_EQ(world.scene().checksum(), then);
    world.advance(10);
    EXPECT_EQ(world.scene().checksum(), later);
}

// A host that measures its scripts, and keeps the figure beside them.
TEST(LuaTraps, AClockInAStructureIsMasked) {
    for (const bool masks : {false, true}) {
        World world;
        world.start({});
        if (testing::Test::HasFatalFailure() || testing::Test::IsSkipped()) return;
        auto* script_ns = static_cast<std::uint64_t*>(world.heap().allocate_unsized(sizeof(std::uint64_t)));
        ASSERT_NE(script_ns, nullptr);
        if (masks) {
            ASSERT_TRUE(world.ring().mask(script_ns, sizeof(*script_ns)));
        }
        const auto step = [&](Tick) {
            const std::uint64_t begin = os::monotonic_ns();
            world.step();
            *script_ns += os::monotonic_ns() - begin + 1;
        };
        for (int tick = 0; tick < 12; ++tick) {
            step(0);
            world.commit();
        }
        const auto outcome = sync_test(world.ring(), 5, step);
        ASSERT_TRUE(outcome) << status_name(outcome.status());
        EXPECT_EQ(outcome->differs, !masks);
        const Tick tick = world.ring().newest();
        const std::uint64_t measured = *script_ns;
        step(0);
        ASSERT_TRUE(world.ring().rollback(tick));
        EXPECT_EQ(*script_ns, measured);
    }
}

}  // namespace
}  // namespace ouro::testing_support
