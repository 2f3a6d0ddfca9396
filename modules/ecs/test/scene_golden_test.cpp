// The same bytes in every tick, on any number of threads, with every compiler and on every platform. A change
// of these values changes what every recorded world becomes, and needs a decision record that says why.
#include "golden_ticks.hpp"
#include "scene_run.hpp"

#include <ouro/base/hash.hpp>
#include <ouro/ecs/image_layout.hpp>
#include <ouro/ecs/worlds.hpp>

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using namespace testing_support;

// Where all of the hash is written down. Those of all ticks are folded into the last one; half of each is in
// golden_ticks(), to tell which differs.
constexpr std::array<Tick, 4> kShown = {1, 10, 100, kGoldenTicks};

using Hashes = std::array<std::uint64_t, kShown.size() + 1>;

bool is_golden(std::size_t scene, Tick tick, std::uint64_t hash) {
    return golden_part(hash) == golden_ticks(scene)[static_cast<std::size_t>(tick - 1)];
}

Hashes run_scene(std::size_t number, unsigned workers) {
    Hashes hashes{};
    SceneRun run(number, workers);
    EXPECT_TRUE(run.is_ready());
    if (!run.is_ready()) return hashes;
    std::size_t shown = 0;
    Tick first_other = 0;
    for (Tick tick = 1; tick <= kGoldenTicks; ++tick) {
        EXPECT_TRUE(run.step());
        if (!run.world().commit()) return hashes;
        if (first_other == 0 && !is_golden(number, tick, run.hash())) first_other = tick;
        hashes.back() = combine_hash(hashes.back(), run.hash());
        if (tick == kShown[shown]) hashes[shown++] = run.hash();
    }
    EXPECT_EQ(first_other, 0U) << "the first tick of " << golden_scene_name(number) << " that is another";
    EXPECT_EQ(run.world().check(), Status::ok);
    return hashes;
}

constexpr std::array<Hashes, kGoldenScenes> kGolden = {{
    {0x19fcfa3dce267025, 0x427137445dbdb004, 0xe902858a25e4298b, 0x238a5cc93ada4928, 0xc5000436428a2e2b},
    {0xaebee9ae9cc7e388, 0x3b28e9c5064f6705, 0x8ef27223ca699ef9, 0x5b8a9d6b7e4abb7a, 0x04bd5de48ad42a76},
    {0xe7ef012ffa226cdf, 0xc4eeb4253e2d2338, 0xf86e08730415567e, 0xc78687212c1a4557, 0x06c3b05702697c5a},
    {0x29a92690b12101d3, 0x26aa64ce1efe066f, 0x738740f0bbae52cb, 0x6d3d015599261158, 0x98899e18244d82a1},
    {0x41acf8fffe025595, 0x111bb277fb7a365b, 0x1c9abc8c2c2699d5, 0xc0c6947b0f7501be, 0x32ee696bb38bb8dd},
    {0xcf07eb9cdffeb829, 0x7dc69586a54c57b7, 0x0ca9e20aada85e4a, 0x7f4b7e60c1d98138, 0x576c8b2c21d766b5},
}};

std::string text_of(const Hashes& hashes) {
    std::string text;
    for (const std::uint64_t hash : hashes) {
        text += text.empty() ? "{0x" : ", 0x";
        for (int digit = 15; digit >= 0; --digit)
            text += "0123456789abcdef"[hash >> (4 * digit) & 15];
    }
    return text + "}";
}

void expect_golden(std::size_t number) {
    for (const unsigned workers : {0U, 1U, 2U, 7U}) {
        const Hashes hashes = run_scene(number, workers);
        EXPECT_EQ(text_of(hashes), text_of(kGolden[number]))
            << golden_scene_name(number) << " with " << workers << " workers";
    }
}

TEST(GoldenScenes, Flock) {
    expect_golden(0);
}
TEST(GoldenScenes, Fountain) {
    expect_golden(1);
}
TEST(GoldenScenes, Epidemic) {
    expect_golden(2);
}
TEST(GoldenScenes, Fire) {
    expect_golden(3);
}
TEST(GoldenScenes, Market) {
    expect_golden(4);
}

TEST(GoldenScenes, Courier) {
    expect_golden(5);
}

// What readers of another build compare.
TEST(GoldenScenes, LayoutIsHashedAlike) {
    SceneRun run(3, 0);
    ASSERT_TRUE(run.is_ready());
    const WorldHeader& header = run.world().core().header();
    EXPECT_EQ(header.structures_hash, kStructuresHash);
    EXPECT_EQ(kStructuresHash, 0xcf8289a524022e2eU);
    EXPECT_EQ(header.layout_hash, 0x30665360f06b7744U);
}

// Every tick is gone back from and simulated again.
void expect_same_again(std::size_t number) {
    SceneRun run(number, 2);
    ASSERT_TRUE(run.is_ready());
    for (Tick tick = 1; tick <= kGoldenTicks; ++tick) {
        ASSERT_TRUE(run.step());
        ASSERT_TRUE(run.world().commit());
        const auto outcome = sync_test(run.world(), 7, [&](Tick) { (void)run.step(); });
        ASSERT_TRUE(outcome);
        ASSERT_FALSE(outcome->differs) << golden_scene_name(number) << ", tick " << outcome->difference.tick;
        ASSERT_TRUE(is_golden(number, tick, run.hash())) << golden_scene_name(number) << ", tick " << tick;
    }
}

TEST(GoldenScenesAgain, Flock) {
    expect_same_again(0);
}
TEST(GoldenScenesAgain, Fountain) {
    expect_same_again(1);
}
TEST(GoldenScenesAgain, Epidemic) {
    expect_same_again(2);
}
TEST(GoldenScenesAgain, Fire) {
    expect_same_again(3);
}
TEST(GoldenScenesAgain, Market) {
    expect_same_again(4);
}
TEST(GoldenScenesAgain, Courier) {
    expect_same_again(5);
}

}  // namespace
}  // namespace ouro
