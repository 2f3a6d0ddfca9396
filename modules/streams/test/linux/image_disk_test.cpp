// Saved images as files: seen only whole, and what had the name before stays when saving fails.
#include <ouro/os/fault_injection.hpp>
#include <ouro/os/process_memory.hpp>
#include <ouro/streams/image_file.hpp>

#include <cerrno>
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

#if defined(OURO_FAULT_INJECTION)
// Each use of the call fails in turn, until there is none left. Returns how many there were.
template <class Operation>
std::uint64_t fail_each_use(os::OsCall call, Operation&& operation) {
    namespace inject = os::fault_injection;
    for (std::uint64_t nth = 1;; ++nth) {
        inject::fail_nth(call, nth, EIO);
        const Status status = operation();
        const bool has_fired = inject::has_fired();
        inject::clear();
        EXPECT_EQ(status, has_fired ? Status::io_error : Status::ok) << inject::name_of(call) << ' ' << nth;
        if (!has_fired || testing::Test::HasFailure()) return nth - 1;
    }
}

TEST_F(ImageDisk, WhenSavingFailsTheOlderFileStays) {
    using enum os::OsCall;
    ASSERT_TRUE(save_image(*ring_.view(put(1)), path_.c_str(), ImageCodec::raw));
    const auto older = std::filesystem::file_size(path_);
    const auto view = ring_.view(put(2));
    ASSERT_TRUE(view);
    for (const os::OsCall call : {create_file, write_file, sync_file, rename_file}) {
        const std::uint64_t uses = fail_each_use(call, [&] {
            const Status status = save_image(*view, path_.c_str()).status();
            EXPECT_TRUE(status == Status::ok || std::filesystem::file_size(path_) == older);
            EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
            return status;
        });
        EXPECT_GT(uses, 0U) << os::fault_injection::name_of(call);
        ASSERT_TRUE(save_image(*ring_.view(1), path_.c_str(), ImageCodec::raw));
    }
}

TEST_F(ImageDisk, WhenReadingFailsNothingChanges) {
    using enum os::OsCall;
    ASSERT_TRUE(save_image(*ring_.view(put(1)), path_.c_str(), ImageCodec::raw));
    for (const os::OsCall call : {open_file, read_file}) {
        put(2);
        const std::uint64_t uses = fail_each_use(call, [&] {
            const Status status = load_image(ring_, path_.c_str()).status();
            EXPECT_EQ(value(), std::byte{status == Status::ok ? std::uint8_t{1} : std::uint8_t{2}});
            return status;
        });
        EXPECT_GT(uses, 0U) << os::fault_injection::name_of(call);
        EXPECT_EQ(ring_.check(), Status::ok);
    }
}
#endif

}  // namespace
}  // namespace ouro
