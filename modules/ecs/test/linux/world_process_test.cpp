// A second process that queries the world of the first, live, by a mapping that it cannot write to.
#include "ecs_rig.hpp"

#include <ouro/ecs/reader_query.hpp>
#include <ouro/ecs/world_reader.hpp>
#include <ouro/os/process_memory.hpp>
#include <ouro/streams/image_mapping.hpp>

#include <array>

#include <sys/wait.h>
#include <unistd.h>

namespace ouro {
namespace {

using namespace testing_support;

constexpr unsigned kChildSeconds = 60;
constexpr std::uint32_t kEntities = 1'000;
constexpr std::int32_t kTicks = 200;

// In the child: looks until the world has come to its last tick. Zero, or what was wrong.
int watch(const ImageMapping& image) {
    const ConstOffsetBase base = image.base();
    const ImageBytes bytes(std::span<const std::byte>(base.start(), base.size()));
    for (std::int32_t seen = 0; seen < kTicks;) {
        const auto reader = WorldReader::open(bytes, "world");
        if (!reader) return 2;
        std::uint32_t count = 0;
        std::int32_t least = kTicks;
        bool is_wrong = false;
        const ReaderQuery<Entity, const Health&, Optional<const Position&>, Without<Frozen>> query(*reader);
        const Status status = query.each([&](Entity entity, const Health& health, const Position* position) {
            ++count;
            least = std::min(least, health.points);
            is_wrong = is_wrong || entity.is_null() || (position != nullptr) != (entity.index() % 2 == 0);
        });
        std::uint32_t burning = 0;
        const ReaderQuery<Entity, const Burning&, const Health&> joined(*reader);
        const Status sparse = joined.each([&](Entity entity, const Burning& own, const Health&) {
            ++burning;
            is_wrong = is_wrong || own.ticks != entity.index();
        });
        // It spawns and destroys meanwhile: rows may be where they do not belong.
        if (status == Status::corrupt_data || sparse == Status::corrupt_data || reader->has_moved_on())
            continue;
        if (status != Status::ok || sparse != Status::ok) return 3;
        if (is_wrong || count != kEntities || burning != kEntities / 10) return 4;
        if (least < seen) return 5;
        seen = least;
    }
    const auto last = WorldReader::open(bytes, "world");
    return last && last->check() == Status::ok ? 0 : 6;
}

TEST(WorldProcess, AnotherProcessQueriesTheLiveWorld) {
    EcsRig rig;
    ASSERT_TRUE(rig.is_ready());
    World& world = rig.world();
    for (std::uint32_t i = 0; i < kEntities; ++i) {
        const auto spawned = i % 2 == 0 ? world.spawn(Health{0}, Position{1, 2}) : world.spawn(Health{0});
        ASSERT_TRUE(spawned);
        if (i % 10 == 0) {
            ASSERT_TRUE(world.add(*spawned, Burning{i}));
        }
    }
    ASSERT_TRUE(world.commit());
    const std::uint32_t parent = os::process_id();
    const int descriptor = rig.ring().image_descriptor();
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::alarm(kChildSeconds);
        ::close(descriptor);
        const auto image = ImageMapping::attach_process(parent, descriptor);
        ::_exit(image ? watch(*image) : 10 + static_cast<int>(image.status()));
    }
    for (std::int32_t tick = 0; tick < kTicks; ++tick) {
        Query<Health&>(world).each([](Health& health) { ++health.points; });
        const auto passer = world.spawn(Genome{});
        ASSERT_TRUE(passer);
        if (tick % 3 != 0) {
            ASSERT_EQ(world.destroy(*passer), Status::ok);
        }
        ASSERT_TRUE(world.commit());
    }
    int state = -1;
    ASSERT_EQ(::waitpid(child, &state, 0), child);
    EXPECT_EQ(state, 0);
}

}  // namespace
}  // namespace ouro
