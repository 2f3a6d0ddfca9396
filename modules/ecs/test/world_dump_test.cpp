#include "ecs_rig.hpp"

#include <ouro/ecs/world_dump.hpp>

#include <string>
#include <vector>

namespace ouro {
namespace {

using namespace testing_support;

template <class Write>
std::string text_by(Write&& write) {
    std::string text;
    const ByteSink sink{
        .write = [](void* context,
                    std::string_view bytes) { static_cast<std::string*>(context)->append(bytes); },
        .context = &text};
    EXPECT_EQ(write(sink), Status::ok);
    return text;
}

class WorldDumpTest : public EcsTest {
protected:
    void SetUp() override {
        EcsTest::SetUp();
        ada_ = *world().spawn(Position{1.5F, -2}, Health{5}, Frozen{});
        ASSERT_TRUE((world().spawn_copies(3'000, Position{1, 2}, Genome{})));
        gone_ = *world().spawn(Alert{3});
        ASSERT_EQ(world().destroy(gone_), Status::ok);
        alert_ = *world().spawn(Alert{4});
        ASSERT_TRUE(world().disable<Alert>(alert_));
        tick_ = rig_.commit();
    }
    WorldReader reader() {
        const MemoryBlock image = rig_.ring().image();
        return *WorldReader::open(std::span<const std::byte>(image.data, image.size));
    }
    static void expect_parts(const std::string& text, std::initializer_list<std::string_view> parts) {
        for (const std::string_view part : parts)
            EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
    }

    Entity ada_;
    Entity gone_;
    Entity alert_;
    Tick tick_ = 0;
};

TEST_F(WorldDumpTest, TextTellsEverything) {
    const std::string text =
        text_by([&](const ByteSink& sink) { return write_world_text(reader(), sink, {.entity = ada_}); });
    expect_parts(text, {"world \"world\", tick 3: 3002 entities", "slots: 3002 used of 20000, 0 free",
                        "Genome", "cold", "unsigned 64 x 8", "3000 rows of 4096 (73%): Position, Genome",
                        "entity 0:1: archetype 0, row 0", "1.5", "-2", "points", "Frozen"});
}

TEST_F(WorldDumpTest, JsonTellsEverything) {
    const std::string text = text_by([&](const ByteSink& sink) {
        return write_world_json(reader(), sink, {.entity = alert_, .columns = false});
    });
    expect_parts(text,
                 {"{\"segment\": \"world\", \"tick\": 3", "\"slots\": {\"live\": 3002, \"used\": 3002",
                  "{\"name\": \"points\", \"offset\": 0, \"kind\": \"signed\"",
                  "{\"rows\": 3000, \"room\": 4096, \"components\": [\"Position\", \"Genome\"]}",
                  "\"entity\": {\"name\": \"3001:2\"", "\"Alert\": {\"(off)\": true, \"level\": 4}}}}"});
}

TEST_F(WorldDumpTest, APastTickCanBeDumped) {
    world().edit<Health>(ada_)->points = 77;
    rig_.commit();
    const auto view = rig_.ring().view(tick_);
    ASSERT_TRUE(view);
    const auto past = WorldReader::open(*view);
    ASSERT_TRUE(past);
    const std::string text =
        text_by([&](const ByteSink& sink) { return write_world_text(*past, sink, {.entity = ada_}); });
    EXPECT_EQ(text.find("77"), std::string::npos);
    const ByteSink nowhere{.write = [](void*, std::string_view) {}, .context = nullptr};
    EXPECT_EQ(write_world_text(*past, nowhere, {.entity = gone_}), Status::stale_handle);
}

TEST_F(WorldDumpTest, DrawsPagesAndColumns) {
    for (int i = 0; i < 4; ++i) {
        Query<Position&>(world()).each([](Position& position) { ++position.x; });
        rig_.commit();
    }
    std::vector<std::uint32_t> counts(rig_.ring().image().size >> kStatePageShift);
    ASSERT_EQ(count_page_changes(rig_.ring(), tick_, tick_ + 4, counts), Status::ok);
    const WorldReader now = reader();
    const auto archetype = now.archetype(1);
    ASSERT_TRUE(archetype);
    // Both written in each tick, and a cold column not at all.
    EXPECT_EQ(counts[static_cast<std::size_t>(now.header_offset() >> kStatePageShift)], 4U);
    EXPECT_EQ(counts[now.block_column(*archetype, 6, 1)->data >> kStatePageShift], 4U);
    EXPECT_EQ(counts[now.block_column(*archetype, 6, 2)->data >> kStatePageShift], 0U);
    const std::string text = text_by(
        [&](const ByteSink& sink) { return write_world_svg(now, sink, {.counts = counts, .ticks = 4}); });
    expect_parts(text, {"<svg ", "written in none to all of 4 ticks", "archetype 1", "Genome",
                        "3000 rows, 73% of 4096", "rgb(200,45,45)", "</svg>"});
    const std::string plain = text_by([&](const ByteSink& sink) { return write_world_svg(now, sink); });
    expect_parts(plain, {"last written long ago to just now"});
    EXPECT_EQ(count_page_changes(rig_.ring(), tick_, tick_ + 1, {}), Status::out_of_range);
}

}  // namespace
}  // namespace ouro
