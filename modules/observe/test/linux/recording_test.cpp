#include "fresh_tags.hpp"

#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/detail/tag_table.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/observe/charged_allocator.hpp>
#include <ouro/observe/detail/observe_image.hpp>
#include <ouro/observe/detail/recording_format.hpp>
#include <ouro/observe/recording.hpp>
#include <ouro/os/fault_injection.hpp>
#include <ouro/os/process_memory.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::Status;
using ouro::detail::ObserveImage;
using ouro::detail::RecordingHeader;
using ouro::detail::RecordingPart;
using ouro::detail::RecordingPartHeader;
namespace fs = std::filesystem;

class RecordingTest : public testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::path(testing::TempDir()) / ("ouro-recording-" + std::to_string(ouro::os::process_id()));
        fs::create_directories(folder_);
        path_ = (folder_ / "memory.ouro").string();
    }
    void TearDown() override { fs::remove_all(folder_); }

    [[nodiscard]] std::ptrdiff_t files() const {
        return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
    }

    fs::path folder_;
    std::string path_;
};

// What a recording holds, read back without the reader of `ouro report`.
struct Recording {
    RecordingHeader header{};
    std::vector<std::byte> image = std::vector<std::byte>(sizeof(ObserveImage));
    std::size_t image_bytes = 0;
    std::string mappings;
    std::vector<char> blocks;
    std::vector<char> tags;
    bool is_whole = false;
};

void read_part(std::ifstream& file, const RecordingPartHeader& part, Recording& recording) {
    if (part.kind == RecordingPart::image) {
        ASSERT_LE(part.offset + part.bytes, sizeof(ObserveImage));
        file.read(reinterpret_cast<char*>(recording.image.data() + part.offset),
                  static_cast<std::streamsize>(part.bytes));
        recording.image_bytes += part.bytes;
    } else if (part.kind == RecordingPart::blocks || part.kind == RecordingPart::tags) {
        auto& target = part.kind == RecordingPart::blocks ? recording.blocks : recording.tags;
        target.resize(part.bytes);
        file.read(target.data(), static_cast<std::streamsize>(part.bytes));
    } else {
        ASSERT_EQ(part.kind, RecordingPart::mappings);
        std::string text(part.bytes, '\0');
        file.read(text.data(), static_cast<std::streamsize>(part.bytes));
        recording.mappings += text;
    }
}

Recording read_back(const std::string& path) {
    Recording recording;
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(&recording.header), sizeof recording.header);
    RecordingPartHeader part{};
    while (file.read(reinterpret_cast<char*>(&part), sizeof part) && part.kind != RecordingPart::end)
        read_part(file, part, recording);
    std::uint64_t checksum = 0;
    EXPECT_EQ(part.bytes, sizeof checksum);
    file.read(reinterpret_cast<char*>(&checksum), sizeof checksum);
    recording.is_whole = static_cast<bool>(file) && file.peek() == std::ifstream::traits_type::eof();
    return recording;
}

TEST_F(RecordingTest, HoldsTheImageAsItIs) {
    auto system = ouro::SystemAllocator::create({});
    ASSERT_TRUE(system);
    ouro::ChargedAllocator memory(*system, ouro::test::fresh_tag());
    const auto block = memory.allocate(12'345);
    ASSERT_TRUE(block);
    ASSERT_TRUE(ouro::save_recording(path_.c_str()));
    const Recording recording = read_back(path_);
    EXPECT_EQ(recording.header.magic, ouro::detail::kRecordingMagic);
    EXPECT_EQ(recording.header.version, ouro::detail::kRecordingVersion);
    EXPECT_EQ(recording.header.process_id, ouro::os::process_id());
    EXPECT_TRUE(recording.is_whole);
    EXPECT_EQ(std::memcmp(recording.image.data(), ouro::detail::observe_image(), sizeof(ObserveImage)), 0);
    EXPECT_NE(recording.mappings.find("observe_test"), std::string::npos);
    EXPECT_TRUE(recording.mappings.ends_with('\n'));
    memory.deallocate(*block);
}

TEST_F(RecordingTest, HoldsTheTablesOfBlocksAndTags) {
    const auto tag = ouro::register_tag("recorded-block-tag");
    ASSERT_TRUE(tag);
    const ouro::BlockRegistration block({.name = "recorded block", .tag = *tag, .reserved_bytes = 4242});
    ASSERT_TRUE(ouro::save_recording(path_.c_str()));
    const Recording recording = read_back(path_);
    const std::size_t index = static_cast<std::size_t>(block.handle().index());
    const std::size_t at = offsetof(ouro::BlockTable, entries) + index * sizeof(ouro::BlockEntry);
    ASSERT_GE(recording.blocks.size(), at + sizeof(ouro::BlockEntry));
    ouro::BlockEntry entry{};
    std::memcpy(&entry, recording.blocks.data() + at, sizeof entry);
    EXPECT_STREQ(entry.name.data(), "recorded block");
    EXPECT_EQ(entry.reserved_bytes, 4242U);
    ouro::detail::TagTableEntry named{};
    const std::size_t place = sizeof(ouro::detail::TagTableHead) + entry.tag * sizeof named;
    ASSERT_EQ(entry.tag, tag->id());
    ASSERT_GE(recording.tags.size(), place + sizeof named);
    std::memcpy(&named, recording.tags.data() + place, sizeof named);
    EXPECT_STREQ(named.name.data(), "recorded-block-tag");
}

TEST_F(RecordingTest, TakesOnlyWhatWasUsed) {
    ASSERT_TRUE(ouro::save_recording(path_.c_str()));
    EXPECT_LT(read_back(path_).image_bytes, sizeof(ObserveImage) / 4);
    EXPECT_LT(fs::file_size(path_), sizeof(ObserveImage) / 4);
}

TEST_F(RecordingTest, ReplacesAnOlderOne) {
    std::ofstream(path_) << "something else";
    ASSERT_TRUE(ouro::save_recording(path_.c_str()));
    EXPECT_TRUE(read_back(path_).is_whole);
    EXPECT_EQ(files(), 1);
}

TEST_F(RecordingTest, SaysWhyItCannot) {
    EXPECT_EQ(ouro::save_recording(nullptr).status(), Status::bad_argument);
    EXPECT_EQ(ouro::save_recording("").status(), Status::bad_argument);
    EXPECT_EQ(ouro::save_recording(folder_.c_str()).status(), Status::bad_argument);
    EXPECT_EQ(ouro::save_recording((path_ + "-none/x").c_str()).status(), Status::not_found);
    EXPECT_EQ(files(), 0);
}

#if defined(OURO_FAULT_INJECTION)
TEST_F(RecordingTest, AFailureOfTheSystemLeavesWhatWasThere) {
    namespace inject = ouro::os::fault_injection;
    using ouro::os::OsCall;
    std::ofstream(path_) << "older";
    for (const OsCall call : {OsCall::create_file, OsCall::write_file, OsCall::rename_file}) {
        SCOPED_TRACE(std::string(inject::name_of(call)));
        for (std::uint64_t nth = 1; nth < 1000; ++nth) {
            inject::fail_nth(call, nth, ENOSPC);
            const Status status = ouro::save_recording(path_.c_str()).status();
            const bool has_fired = inject::has_fired();
            inject::clear();
            if (!has_fired) {
                EXPECT_EQ(status, Status::ok);
                std::ofstream(path_) << "older";
                break;
            }
            EXPECT_EQ(status, Status::io_error);
            EXPECT_EQ(fs::file_size(path_), 5U);
            EXPECT_EQ(files(), 1);
        }
    }
    // What is not told about the process is done without.
    for (const OsCall call : {OsCall::open_file, OsCall::read_file}) {
        inject::fail_nth(call, 1, EIO);
        EXPECT_TRUE(ouro::save_recording(path_.c_str()));
        EXPECT_TRUE(inject::has_fired());
        inject::clear();
        EXPECT_TRUE(read_back(path_).is_whole);
    }
}
#endif

}  // namespace
