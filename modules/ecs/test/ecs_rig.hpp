#pragma once

#include <ouro/ecs/query.hpp>
#include <ouro/ecs/world.hpp>
#include <ouro/streams/verifier.hpp>

#include <array>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace ouro::testing_support {

struct Position {
    float x;
    float y;
};
struct Velocity {
    float x;
    float y;
    float z;
};
struct Health {
    std::int32_t points;
};
struct Genome {
    std::array<std::uint64_t, 8> genes;
};
struct Frozen {};
struct Alert {
    std::uint32_t level;
};

// In tables of their own.
struct Burning {
    std::uint32_t ticks;
};
struct Stunned {
    std::uint32_t ticks;
    float strength;
};

struct BurningGenome {
    std::array<std::uint64_t, 8> genes;
};

}  // namespace ouro::testing_support

template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::Genome> = {
    .heat = ouro::Heat::cold};
template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::Alert> = {.toggles =
                                                                                                     true};
template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::Burning> = {.sparse =
                                                                                                       true};
template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::Stunned> = {.sparse =
                                                                                                       true};
template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::BurningGenome> = {
    .sparse = true};

namespace ouro::testing_support {

// A ring and a world in it.
class EcsRig {
public:
    explicit EcsRig(std::uint64_t bytes = std::uint64_t{8} << 20,
                    const WorldOptions& options = {.max_entities = 20'000, .max_archetypes = 64}) {
        const SegmentOptions segment{.name = "world", .bytes = bytes};
        auto ring = StateRing::create(
            {.segments = {&segment, 1}, .history_ticks = 40, .history_bytes = 4 * bytes + (16U << 20)});
        if (!ring) return;
        ring_.emplace(*std::move(ring));
        if (auto world = World::create(*ring_, options)) world_.emplace(*std::move(world));
    }

    [[nodiscard]] bool is_ready() const { return world_.has_value(); }
    [[nodiscard]] StateRing& ring() { return *ring_; }
    [[nodiscard]] World& world() { return *world_; }
    [[nodiscard]] std::vector<std::byte> bytes() const {
        const MemoryBlock image = ring_->image();
        return {image.begin(), image.end()};
    }
    // Another World takes over what is there, as after a restart of the program.
    Status attach() {
        auto world = World::attach(*ring_);
        if (world) world_.emplace(*std::move(world));
        return world.status();
    }
    // Ends the tick, and looks for writes that were not declared.
    Tick commit() {
        const auto tick = world_->commit();
        EXPECT_TRUE(tick) << status_name(tick.status());
        const VerifyOptions options{.finds_nans = false, .finds_addresses = false};
        EXPECT_TRUE(verify_image(*ring_, options, [](const Finding& finding) {
            std::array<char, 300> text;
            ADD_FAILURE() << describe_finding(finding, text).data();
        }));
        EXPECT_EQ(world_->check(), Status::ok);
        return tick.value_or(0);
    }

private:
    std::optional<StateRing> ring_;
    std::optional<World> world_;
};

class EcsTest : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(rig_.is_ready()); }
    World& world() { return rig_.world(); }

    EcsRig rig_;
};

}  // namespace ouro::testing_support
