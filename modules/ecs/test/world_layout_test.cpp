#include "ecs_rig.hpp"

#include <ouro/ecs/image_layout.hpp>
#include <ouro/ecs/world_file.hpp>
#include <ouro/ecs/world_reader.hpp>
#include <ouro/streams/image_file.hpp>

#include <array>
#include <charconv>
#include <string>
#include <vector>

namespace ouro {
namespace {

using namespace testing_support;

constexpr std::uint64_t kForeign = 0x1234;

class WorldLayoutTest : public EcsTest {
protected:
    void SetUp() override {
        EcsTest::SetUp();
        ASSERT_TRUE(world().spawn(Position{1, 2}, Health{3}));
    }
    void set_structures_hash(std::uint64_t hash) {
        world().heap().edit(const_cast<WorldHeader&>(world().core().header())).structures_hash = hash;
    }
    static void expect_both_hashes(const std::string& told) {
        std::array<char, 20> own{};
        static_cast<void>(std::to_chars(own.data(), own.data() + own.size(), kStructuresHash, 16));
        EXPECT_NE(told.find("is laid out as 0x0000000000001234 (version 2)"), told.npos) << told;
        EXPECT_NE(told.find(own.data()), told.npos) << told;
    }
};

TEST_F(WorldLayoutTest, AnotherLayoutIsToldWithBothHashes) {
    const MemoryBlock image = rig_.ring().image();
    const std::span<const std::byte> bytes(image.data, image.size);
    set_structures_hash(kForeign);
    LayoutFound found;
    EXPECT_EQ(WorldReader::open(bytes, "world", &found).status(), Status::wrong_layout);
    EXPECT_EQ(World::attach(rig_.ring()).status(), Status::wrong_layout);
    EXPECT_FALSE(found.is_known());
    std::array<char, 160> text;
    expect_both_hashes(std::string(describe_layout(found, text)));
    set_structures_hash(kStructuresHash);
    EXPECT_TRUE(WorldReader::open(bytes, "world", &found));
    EXPECT_TRUE(found.is_known());
    EXPECT_TRUE(World::attach(rig_.ring()));
}

TEST_F(WorldLayoutTest, AFileOfAnotherLayoutIsRefusedWithBothHashes) {
    set_structures_hash(kForeign);
    ASSERT_TRUE(world().commit());
    std::vector<std::byte> file;
    const auto add = [](void* context, std::span<const std::byte> piece) noexcept {
        auto& all = *static_cast<std::vector<std::byte>*>(context);
        all.insert(all.end(), piece.begin(), piece.end());
        return Status::ok;
    };
    const auto past = world().at(rig_.ring().newest());
    ASSERT_TRUE(past);
    ASSERT_TRUE(write_world(*past, {.write = add, .context = &file}));
    EcsRig target;
    ASSERT_TRUE(target.is_ready());
    const std::vector<std::byte> before = target.bytes();
    WorldLoadProblem problem;
    const std::span<const std::byte> bytes = file;
    EXPECT_EQ(read_world(target.world(), image_source(bytes), {.problem = &problem}).status(),
              Status::wrong_layout);
    EXPECT_EQ(target.bytes(), before);
    std::array<char, 200> text;
    const std::string told(describe_problem(problem, text));
    EXPECT_EQ(told.rfind("the world is laid out as", 0), 0U) << told;
    expect_both_hashes(told);
}

// With names and fields, in the order in which they were made known; the image's, so that it goes back.
TEST(WorldLayout, HashIsThatOfTheComponents) {
    EcsRig one, same, other;
    ASSERT_TRUE(one.is_ready() && same.is_ready() && other.is_ready());
    const auto hash = [](EcsRig& rig) { return rig.world().core().header().layout_hash; };
    EXPECT_EQ(hash(one), hash(same));
    ASSERT_TRUE(one.world().component<Position>() && one.world().component<Health>());
    EXPECT_NE(hash(one), hash(same));
    const Tick before = same.commit();
    ASSERT_TRUE(same.world().component<Position>() && same.world().component<Health>());
    EXPECT_EQ(hash(one), hash(same));
    ASSERT_TRUE(other.world().component<Health>() && other.world().component<Position>());
    EXPECT_NE(hash(one), hash(other));
    ASSERT_TRUE(same.ring().rollback(before));
    EXPECT_NE(hash(one), hash(same));
    EXPECT_EQ(same.world().check(), Status::ok);
}

}  // namespace
}  // namespace ouro
