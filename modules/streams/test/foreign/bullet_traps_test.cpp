// Where Bullet keeps state that its hook knows nothing of, and what is done about it.
#include "foreign_world.hpp"
#include "ring/bullet_scene.hpp"
#include "text_sink.hpp"

#include <ouro/streams/escape_scope.hpp>

#include <LinearMath/btQuickprof.h>

namespace ouro::testing_support {
namespace {

using scenes::BulletScene;
using World = ForeignWorld<BulletScene>;

constexpr std::array<std::string_view, 4> kEverything = {os::HeapCallWatch::kProgram, "libBulletDynamics",
                                                         "libBulletCollision", "libLinearMath"};

// A ring with room for one scene, and nothing of Bullet in it yet.
class EmptyRing {
public:
    EmptyRing() {
        const SegmentOptions segment{.name = "foreign",
                                     .bytes = BulletScene::kSegmentBytes,
                                     .kind = SegmentKind::process_bound,
                                     .tracking = Tracking::automatic};
        auto ring = StateRing::create({.segments = {&segment, 1}, .history_bytes = 256 << 20});
        if (ring) ring_ = *std::move(ring);
    }
    StateRing& ring() { return ring_; }
    Expected<ForeignHeap> heap() { return ForeignHeap::create(ring_, "foreign"); }

private:
    StateRing ring_;
};

TEST(BulletTraps, MadeByPlainNewThreeObjectsEscape) {
    EmptyRing empty;
    auto heap = empty.heap();
    ASSERT_TRUE(heap);
    // Sends to the heap what goes through Bullet's hook.
    BulletScene::use(*heap);
    auto scope = EscapeScope::begin(kEverything);
    ASSERT_TRUE(scope) << status_name(scope.status());
    auto* configuration = new btDefaultCollisionConfiguration;
    auto* dispatcher = new btCollisionDispatcher(configuration);
    auto* broadphase = new btDbvtBroadphase;
    ASSERT_EQ(scope->calls(), 3U);
    EXPECT_EQ(scope->bytes(), sizeof(btDefaultCollisionConfiguration) + sizeof(btCollisionDispatcher) +
                                  sizeof(btDbvtBroadphase));
    for (const EscapeSite& site : scope->sites())
        EXPECT_STREQ(site.function, "_Znwm");
    delete broadphase;
    delete dispatcher;
    delete configuration;
}

TEST(BulletTraps, PlacedInTheHeapNothingEscapes) {
    EmptyRing empty;
    auto heap = empty.heap();
    ASSERT_TRUE(heap);
    TextSink text;
    std::uint64_t escaped = 0;
    {
        auto scope = EscapeScope::begin(kEverything);
        ASSERT_TRUE(scope);
        ASSERT_GT(scope->import_count(), 4U);
        BulletScene* scene = BulletScene::create(*heap);
        for (Tick tick = 1; tick <= 100; ++tick) {
            scene->step(tick);
            ASSERT_TRUE(empty.ring().commit());
        }
        escaped = scope->calls();
        scope->write(text.sink());
    }
    EXPECT_EQ(escaped, 0U) << text.text();
}

TEST(BulletTraps, WhatTheLibraryTakesForItselfIsNamed) {
    TextSink text;
    {
        auto scope = EscapeScope::begin(kEverything);
        ASSERT_TRUE(scope);
        const btClock clock;
        EXPECT_EQ(scope->calls(), 1U);
        scope->write(text.sink());
    }
    // As the linker calls it: btClock::btClock().
    EXPECT_EQ(text.text().rfind("libLinearMath.so", 0), 0U) << text.text();
    EXPECT_NE(text.text().find(": 1 allocation, "), std::string::npos) << text.text();
    EXPECT_NE(text.text().find("first by _Znwm from _ZN7btClockC"), std::string::npos) << text.text();
}

// Each body has a number from a counter that is a variable of the library.
TEST(BulletTraps, WithoutTheLibrariesVariablesTheBytesDiffer) {
    for (const bool keeps : {false, true}) {
        World world;
        world.start({.keeps_libraries = keeps});
        if (testing::Test::HasFatalFailure() || testing::Test::IsSkipped()) return;
        const Tick start = world.ring().newest();
        world.advance(7);
        const std::uint64_t first = world.hash(start + 7);
        ASSERT_TRUE(world.ring().rollback(start));
        world.advance(7);
        EXPECT_EQ(world.hash(start + 7) == first, keeps);
    }
}

TEST(BulletTraps, ABodyIsReadOutOfAPastTick) {
    World world;
    world.start({});
    if (testing::Test::HasFatalFailure() || testing::Test::IsSkipped()) return;
    const auto offset = static_cast<std::uint64_t>(
        reinterpret_cast<const std::byte*>(&world.scene().transform()) - world.ring().image().data);
    const Tick tick = world.ring().newest();
    const btTransform then = world.scene().transform();
    world.advance(2);
    world.scene().world().setGravity(btVector3(0, 10, 0));
    world.advance(10);
    const auto past = world.ring().view(tick);
    ASSERT_TRUE(past);
    std::array<std::byte, sizeof(btTransform)> copied;
    ASSERT_EQ(past->read(offset, copied), Status::ok);
    EXPECT_EQ(std::memcmp(copied.data(), &then, sizeof(then)), 0);
}

}  // namespace
}  // namespace ouro::testing_support
