#include "ecs_rig.hpp"

#include <ouro/base/random.hpp>
#include <ouro/ecs/world_reader.hpp>
#include <ouro/streams/image_file.hpp>
#include <ouro/streams/saved_image.hpp>

#include <cstring>
#include <string>
#include <vector>

namespace ouro {
namespace {

using namespace testing_support;

class WorldReaderTest : public EcsTest {
protected:
    void SetUp() override {
        EcsTest::SetUp();
        for (std::int32_t i = 0; i < 200; ++i)
            names_.push_back(*world().spawn(Position{static_cast<float>(i), 1}, Health{i}));
        for (std::uint32_t i = 0; i < 70; ++i)
            names_.push_back(*world().spawn(Alert{i}, Frozen{}));
        for (const std::size_t gone : {3U, 7U, 250U})
            ASSERT_EQ(world().destroy(names_[gone]), Status::ok);
        ASSERT_TRUE(world().disable<Alert>(names_[201]));
        tick_ = rig_.commit();
    }
    void expect_all(const ImageBytes& bytes) {
        const auto reader = WorldReader::open(bytes, "world");
        ASSERT_TRUE(reader) << status_name(reader.status());
        EXPECT_EQ(reader->check(), Status::ok);
        EXPECT_EQ(reader->segment(), "world");
        EXPECT_EQ(reader->header().live_entities, 267U);
        const auto health = reader->find_component("Health");
        const auto alert = reader->find_component("Alert");
        ASSERT_TRUE(health && alert);
        EXPECT_EQ(reader->find_component("Mana").status(), Status::not_found);
        for (std::size_t i = 0; i < names_.size(); ++i) {
            Health value{};
            const auto out = std::as_writable_bytes(std::span(&value, 1));
            const Status status = reader->read_cell(names_[i], *health, out);
            if (i == 3 || i == 7 || i == 250) {
                EXPECT_EQ(status, Status::stale_handle);
            } else if (i < 200) {
                EXPECT_EQ(status, Status::ok);
                EXPECT_EQ(value.points, static_cast<std::int32_t>(i));
            } else {
                EXPECT_EQ(status, Status::not_found);
            }
        }
        expect_switches(*reader, *alert);
        std::vector<std::uint32_t> free;
        EXPECT_EQ(reader->each_free_slot([&](std::uint32_t index) { free.push_back(index); }), Status::ok);
        EXPECT_EQ(free, (std::vector<std::uint32_t>{250, 7, 3}));
    }
    void expect_switches(const WorldReader& reader, ComponentId alert) {
        std::uint32_t off = 0;
        for (std::uint32_t i = 0; i < reader.header().archetype_count; ++i) {
            const auto archetype = reader.archetype(i);
            ASSERT_TRUE(archetype);
            const auto column = reader.column_of(*archetype, alert);
            ASSERT_TRUE(column);
            if (*column == 0) continue;
            for (std::uint32_t row = 0; row < archetype->row_count; ++row) {
                if (!*reader.is_disabled(*archetype, row, *column - 1)) continue;
                ++off;
                EXPECT_EQ(*reader.entity_at(*archetype, row), names_[201]);
            }
        }
        EXPECT_EQ(off, 1U);
    }
    [[nodiscard]] std::vector<std::byte> saved() {
        std::vector<std::byte> bytes;
        const auto view = rig_.ring().view(tick_);
        const auto add = [](void* context, std::span<const std::byte> piece) noexcept {
            auto& all = *static_cast<std::vector<std::byte>*>(context);
            all.insert(all.end(), piece.begin(), piece.end());
            return Status::ok;
        };
        EXPECT_TRUE(write_image(*view, {.write = add, .context = &bytes}));
        return bytes;
    }

    std::vector<Entity> names_;
    Tick tick_ = 0;
};

TEST_F(WorldReaderTest, ReadsWhatIsThereWithoutItsTypes) {
    const MemoryBlock image = rig_.ring().image();
    expect_all(std::span<const std::byte>(image.data, image.size));
}

TEST_F(WorldReaderTest, ReadsAPastTick) {
    for (std::size_t i = 100; i < 200; ++i)
        ASSERT_EQ(world().destroy(names_[i]), Status::ok);
    rig_.commit();
    const auto view = rig_.ring().view(tick_);
    ASSERT_TRUE(view);
    expect_all(*view);
}

TEST_F(WorldReaderTest, ReadsASavedImage) {
    const std::vector<std::byte> file = saved();
    const std::span<const std::byte> bytes = file;
    const auto image = SavedImage::read(image_source(bytes));
    ASSERT_TRUE(image) << status_name(image.status());
    EXPECT_EQ(image->info().tick, tick_);
    expect_all(image->bytes());
}

TEST_F(WorldReaderTest, TellsTheFieldsOfComponents) {
    const MemoryBlock image = rig_.ring().image();
    const auto reader = WorldReader::open(std::span<const std::byte>(image.data, image.size));
    ASSERT_TRUE(reader);
    const auto position = reader->component(*reader->find_component("Position"));
    ASSERT_TRUE(position);
    EXPECT_EQ(position->field_count, 2U);
    const auto y = reader->field(*position, 1);
    ASSERT_TRUE(y);
    EXPECT_EQ(y->name, "y");
    EXPECT_EQ(y->offset, 4U);
    EXPECT_EQ(y->kind, static_cast<std::uint8_t>(FieldKind::floating));
    EXPECT_EQ(reader->field(*position, 2).status(), Status::out_of_range);
    EXPECT_EQ(reader->component(99).status(), Status::out_of_range);
    EXPECT_EQ(reader->archetype(99).status(), Status::out_of_range);
}

TEST_F(WorldReaderTest, RefusesWhatIsNoWorld) {
    std::vector<std::byte> bytes = rig_.bytes();
    const auto open = [&](std::size_t count, std::string_view segment = {}) {
        return WorldReader::open(std::span<const std::byte>(bytes).first(count), segment).status();
    };
    EXPECT_EQ(open(bytes.size()), Status::ok);
    EXPECT_EQ(open(bytes.size(), "elsewhere"), Status::not_found);
    EXPECT_EQ(open(0), Status::wrong_format);
    EXPECT_EQ(open(100), Status::wrong_format);
    EXPECT_EQ(open(kStatePageBytes), Status::corrupt_data);
    bytes[0] = std::byte{'x'};
    EXPECT_EQ(open(bytes.size()), Status::wrong_format);
}

// Each byte that a world's structure is made of, damaged in many ways: wrong is allowed, a crash is not.
TEST_F(WorldReaderTest, SurvivesAnyDamage) {
    const std::vector<std::byte> sound = rig_.bytes();
    const auto reader = WorldReader::open(std::span<const std::byte>(sound));
    ASSERT_TRUE(reader);
    const std::uint64_t seed = 0x0dd5eedULL;
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    std::vector<std::byte> bytes = sound;
    const std::array<std::uint32_t, 4> places = {0, reader->header().components, reader->header().entities,
                                                 reader->header().archetypes};
    std::uint32_t refused = 0;
    for (int round = 0; round < 3'000; ++round) {
        std::array<std::size_t, 3> damaged{};
        for (std::size_t& at : damaged) {
            const auto place = static_cast<std::size_t>(places[random.below(4)]);
            const auto within = static_cast<std::size_t>(random.below(place == 0 ? 140'000 : 1'200));
            at = place + within;
            bytes[at] = static_cast<std::byte>(random.below(256));
        }
        const auto opened = WorldReader::open(std::span<const std::byte>(bytes));
        if (!opened) {
            ++refused;
        } else if (opened->check() != Status::ok) {
            ++refused;
            for (const Entity entity : names_) {
                std::array<std::byte, 8> value;
                static_cast<void>(opened->read_cell(entity, 1, value));
            }
        }
        for (const std::size_t at : damaged)
            bytes[at] = sound[at];
    }
    EXPECT_GT(refused, 100U);
}

TEST_F(WorldReaderTest, CutOffFilesAreRefused) {
    const std::vector<std::byte> file = saved();
    for (const std::size_t length : {std::size_t{0}, std::size_t{20}, file.size() / 2, file.size() - 1}) {
        const auto bytes = std::span<const std::byte>(file).first(length);
        EXPECT_FALSE(SavedImage::read(image_source(bytes)));
    }
    EXPECT_FALSE(SavedImage::open("no such file.image"));
}

}  // namespace
}  // namespace ouro
