// Saved images as files: seen only whole, and what had the name before stays when saving fails.
#include <ouro/os/process_memory.hpp>
#include <ouro/streams/image_file.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace ouro {
namespace {

constexpr SegmentOptions kWorld{.name = "world", .bytes = 1 << 20};

class ImageDisk : public testing::Test {
protected:
    void SetUp() override {
        const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
        folder_ = std::filesystem::path(testing::TempDir()) /
                  ("ouro-image-" + std::string(test->name()) + std::to_string(os::process_id()));
        std::filesystem::create_directories(folder_);
        path_ = (folder_ / "world.image").string();
        auto ring =
            StateRing::create({.segments = {&kWorld, 1}, .history_ticks = 10, .history_bytes = 8 << 20});
        ASSERT_TRUE(ring) << status_name(ring.status());
        ring_ = *std::move(ring);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    Tick put(std::uint8_t value) {
        const MemoryBlock world = *ring_.segment_block("world");
        std::memset(world.data + 5000, value, 100'000);
        EXPECT_EQ(ring_.mark(world.data + 5000, 100'000), Status::ok);
        return ring_.commit().value_or(0);
    }
    [[nodiscard]] std::byte value() const { return ring_.segment_block("world")->data[50'000]; }

    std::filesystem::path folder_;
    std::string path_;
    StateRing ring_;
};

TEST_F(ImageDisk, SaveAndLoad) {
    const Tick tick = put(1);
    const auto saved = save_image(*ring_.view(tick), path_.c_str());
    ASSERT_TRUE(saved) << status_name(saved.status());
    EXPECT_EQ(std::filesystem::file_size(path_), saved->bytes);
    put(2);
    const auto loaded = load_image(ring_, path_.c_str());
    ASSERT_TRUE(loaded) << status_name(loaded.status());
    EXPECT_EQ(value(), std::byte{1});
    EXPECT_EQ(*ring_.hash(*loaded), saved->state_hash);
    const auto checked = check_image_file(path_.c_str());
    ASSERT_TRUE(checked);
    EXPECT_EQ(checked->state_hash, saved->state_hash);
    EXPECT_EQ(checked->tick, tick);
}

TEST_F(ImageDisk, SavingAgainReplacesTheFile) {
    ASSERT_TRUE(save_image(*ring_.view(put(1)), path_.c_str()));
    ASSERT_TRUE(save_image(*ring_.view(put(2)), path_.c_str(), ImageCodec::raw));
    put(3);
    ASSERT_TRUE(load_image(ring_, path_.c_str()));
    EXPECT_EQ(value(), std::byte{2});
    // Nothing else is left beside it.
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(ImageDisk, ACutOffFileChangesNothing) {
    ASSERT_TRUE(save_image(*ring_.view(put(1)), path_.c_str()));
    std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 1);
    put(2);
    EXPECT_EQ(load_image(ring_, path_.c_str()).status(), Status::corrupt_data);
    EXPECT_EQ(value(), std::byte{2});
}

TEST_F(ImageDisk, WhatIsNotThereIsSaidSo) {
    EXPECT_EQ(load_image(ring_, path_.c_str()).status(), Status::not_found);
    EXPECT_EQ(check_image_file(path_.c_str()).status(), Status::not_found);
    const std::string nowhere = (folder_ / "no" / "folder").string();
    EXPECT_EQ(save_image(*ring_.view(put(1)), nowhere.c_str()).status(), Status::not_found);
}

}  // namespace
}  // namespace ouro
