#include "damaged_world.hpp"

#include <ouro/ecs/names.hpp>
#include <ouro/ecs/past_world.hpp>
#include <ouro/ecs/world_file.hpp>

#include <string>

namespace ouro {
namespace {

// What the components of the rich world became in a later version: loading converts all of them, and gives
// back the memory that they had.
struct GenomeNow {
    std::array<std::uint64_t, 9> genes;
};
struct HealthNow {
    std::int64_t points;
};
struct BurningNow {
    std::uint64_t ticks;
    std::uint64_t age;
};
struct ClockNow {
    std::uint64_t ticks;
    std::uint64_t spare;
};

}  // namespace

template <>
inline constexpr ComponentOptions kComponentOptions<GenomeNow> = {.name = "Genome", .heat = Heat::warm};
template <>
inline constexpr ComponentOptions kComponentOptions<HealthNow> = {.name = "Health"};
template <>
inline constexpr ComponentOptions kComponentOptions<BurningNow> = {.name = "Burning", .sparse = true};
template <>
inline constexpr ComponentOptions kComponentOptions<ClockNow> = {.name = "RichClock"};

namespace {

using namespace testing_support;

// A world that is damaged before it is saved, so that all hashes of the file are right.
class WorldDamageTest : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(source_.is_ready() && target_.is_ready());
        World& world = target_.world();
        ASSERT_TRUE(world.component<GenomeNow>() && world.component<HealthNow>() &&
                    world.component<BurningNow>());
        ASSERT_NE(world.edit_resource<ClockNow>(), nullptr);
        ASSERT_TRUE(world.spawn(Position{1, 2}, GenomeNow{}));
        ASSERT_TRUE(world.commit());
        base_ = target_.ring().newest();
    }
    // The damaged image as a file.
    std::vector<std::byte> file() {
        const auto tick = source_.ring().commit();
        EXPECT_TRUE(tick);
        std::vector<std::byte> bytes;
        const auto add = [](void* context, std::span<const std::byte> piece) noexcept {
            auto& all = *static_cast<std::vector<std::byte>*>(context);
            all.insert(all.end(), piece.begin(), piece.end());
            return Status::ok;
        };
        const auto past = source_.ring().view(*tick);
        EXPECT_TRUE(past && write_image(*past, {.write = add, .context = &bytes}));
        return bytes;
    }
    Expected<Tick> load(std::span<const SchemaChange> changes = {}) {
        const std::vector<std::byte> bytes = file();
        return read_world(target_.world(), image_source(std::span<const std::byte>(bytes)),
                          {.changes = changes});
    }
    void go_back() { ASSERT_TRUE(target_.ring().rollback(base_)); }

    RichWorld source_;
    EcsRig target_{RichWorld::kBytes, RichWorld::options()};
    Tick base_ = 0;
};

TEST_F(WorldDamageTest, TheSoundWorldIsConverted) {
    const std::array changes = {removed_component("Stunned"), removed_component("Velocity")};
    ASSERT_TRUE(load(changes));
    World& world = target_.world();
    const Entity ada = find_named(world, "ada");
    ASSERT_FALSE(ada.is_null());
    EXPECT_EQ(world.get<HealthNow>(ada)->points, 0);
    EXPECT_EQ(world.resource<ClockNow>()->ticks, 12U);
    use_world(world);
    EXPECT_EQ(world.check(), Status::ok);
}

TEST_F(WorldDamageTest, DamageIsAStatusAndChangesNothing) {
    const std::vector<std::byte> before = target_.bytes();
    const std::vector<Damage> damages = Damages(source_.world()).all();
    for (const Damage& damage : damages) {
        SCOPED_TRACE(damage.what);
        source_.apply(damage);
        EXPECT_EQ(load().status(), Status::corrupt_data);
        EXPECT_EQ(target_.bytes(), before);
        EXPECT_EQ(target_.ring().newest(), base_);
        source_.repair();
    }
    EXPECT_TRUE(load());
}

TEST_F(WorldDamageTest, AnyDamageIsRefusedOrHarmless) {
    const std::uint64_t seed = damage_seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::array changes = {removed_component("Stunned"), removed_component("Velocity")};
    const std::vector<std::byte> before = target_.bytes();
    std::uint32_t refused = 0;
    const std::uint32_t rounds = damage_rounds(300);
    for (std::uint32_t round = 0; round < rounds; ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        source_.damage_at_random(random);
        const auto loaded = load(random.below(2) == 0 ? std::span<const SchemaChange>(changes)
                                                      : std::span<const SchemaChange>());
        if (loaded) {
            use_world(target_.world());
            EXPECT_EQ(target_.world().check(), Status::ok);
            go_back();
            EXPECT_EQ(target_.bytes(), before);
        } else {
            ++refused;
            if (loaded.status() == Status::corrupt_data) {
                EXPECT_EQ(target_.ring().newest(), base_);
                EXPECT_EQ(target_.bytes(), before);
            }
            if (target_.ring().newest() != base_) go_back();
        }
        source_.repair();
    }
    EXPECT_GT(refused, rounds / 10);
    EXPECT_TRUE(load());
}

}  // namespace
}  // namespace ouro
