#include "mapping_table.hpp"

#include <ouro/os/file_input.hpp>
#include <ouro/os/process_memory.hpp>
#include <ouro/os/reservation.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace {

using ouro::MemoryBlock;
using ouro::Status;
using ouro::os::FileInput;
using ouro::os::Reservation;
namespace fs = std::filesystem;
namespace os = ouro::os;

class FileInputTest : public testing::Test {
protected:
    void SetUp() override {
        folder_ =
            fs::path(testing::TempDir()) / ("ouro-file-input-" + std::to_string(ouro::os::process_id()));
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
    [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(path(name), std::ios::binary) << text;
        return path(name);
    }

    fs::path folder_;
};

std::string pattern(std::size_t bytes) {
    std::string text(bytes, ' ');
    for (std::size_t i = 0; i < bytes; ++i)
        text[i] = static_cast<char>('a' + i % 23);
    return text;
}

std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST_F(FileInputTest, ReadsAnyPartAndStopsAtTheEnd) {
    const std::string text = pattern(100'000);
    const auto file = FileInput::open(write("a", text).c_str());
    ASSERT_TRUE(file);
    EXPECT_EQ(file->size().value_or(0U), text.size());
    std::array<std::byte, 1000> part{};
    ASSERT_EQ(file->read_at(12'345, part).value_or(0U), part.size());
    EXPECT_EQ(text_of(part), text.substr(12'345, part.size()));
    EXPECT_EQ(file->read_at(text.size() - 10, part).value_or(0U), 10U);
    EXPECT_EQ(file->read_at(text.size(), part).value_or(1U), 0U);
    EXPECT_EQ(file->read_at(text.size() * 2, part).value_or(1U), 0U);
    EXPECT_EQ(file->read_at(5, {}).value_or(1U), 0U);
    EXPECT_EQ(file->read_at(~std::uint64_t{0}, part).status(), Status::size_overflow);
}

TEST_F(FileInputTest, TellsTheSizeAnewEachTime) {
    const auto file = FileInput::open(write("a", "1234").c_str());
    ASSERT_TRUE(file);
    fs::resize_file(path("a"), 100);
    EXPECT_EQ(file->size().value_or(0U), 100U);
    fs::resize_file(path("a"), 0);
    EXPECT_EQ(file->size().value_or(1U), 0U);
}

TEST_F(FileInputTest, SaysWhyItCannot) {
    const auto status_of = [](const std::string& name) { return FileInput::open(name.c_str()).status(); };
    EXPECT_EQ(FileInput::open(nullptr).status(), Status::bad_argument);
    EXPECT_EQ(status_of(""), Status::bad_argument);
    EXPECT_EQ(status_of(folder_.string()), Status::bad_argument);
    EXPECT_EQ(status_of("/dev/null"), Status::bad_argument);
    EXPECT_EQ(status_of(path("none")), Status::not_found);
    EXPECT_EQ(status_of(write("plain", "x") + "/below"), Status::bad_argument);
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    // Nobody writes into it: opening must not wait for that.
    EXPECT_EQ(status_of(path("pipe")), Status::bad_argument);
}

TEST_F(FileInputTest, MapsPagesInPlace) {
    const os::testing_support::NoMappingLeak balanced;
    const std::size_t page = os::page_size();
    const std::string text = pattern(2 * page + 100);
    const auto file = FileInput::open(write("a", text).c_str());
    auto range = Reservation::create({.bytes = 4 * page});
    ASSERT_TRUE(file && range);
    ASSERT_TRUE(range->commit(0, range->block().size));
    range->block().data[0] = std::byte{7};
    const MemoryBlock pages = range->block().sub(page, 3 * page);
    ASSERT_TRUE(file->map_over(pages));
    EXPECT_EQ(text_of({pages.data, text.size()}), text);
    EXPECT_EQ(pages.data[text.size()], std::byte{0});
    EXPECT_EQ(range->block().data[0], std::byte{7});

    pages.data[0] = std::byte{'X'};
    std::array<std::byte, 1> first{};
    ASSERT_TRUE(file->read_at(0, first));
    EXPECT_EQ(text_of(first), "a");

    ASSERT_TRUE(file->map_over(pages.sub(0, page), page));
    EXPECT_EQ(text_of({pages.data, page}), text.substr(page, page));
    ASSERT_TRUE(os::decommit(pages));
    ASSERT_TRUE(os::commit(pages));
    EXPECT_EQ(pages.data[0], std::byte{0});
}

TEST_F(FileInputTest, MappingNamesWhatIsWrong) {
    const std::size_t page = os::page_size();
    const auto file = FileInput::open(write("a", pattern(page + 1)).c_str());
    const auto empty = FileInput::open(write("empty", "").c_str());
    auto range = Reservation::create({.bytes = 4 * page});
    ASSERT_TRUE(file && empty && range);
    ASSERT_TRUE(range->commit(0, range->block().size));
    const MemoryBlock whole = range->block();
    EXPECT_EQ(file->map_over(whole.sub(0, 0)).status(), Status::zero_size);
    EXPECT_EQ(file->map_over(whole.sub(1, page)).status(), Status::bad_address);
    EXPECT_EQ(file->map_over(whole.sub(0, page), 10).status(), Status::bad_argument);
    EXPECT_EQ(file->map_over(whole.sub(0, 3 * page)).status(), Status::out_of_range);
    EXPECT_EQ(file->map_over(whole.sub(0, page), 2 * page).status(), Status::out_of_range);
    EXPECT_EQ(empty->map_over(whole.sub(0, page)).status(), Status::out_of_range);
    whole.data[0] = std::byte{1};
    EXPECT_EQ(whole.data[0], std::byte{1});
}

}  // namespace
