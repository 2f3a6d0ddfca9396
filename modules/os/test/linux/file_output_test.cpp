#include <ouro/os/file_output.hpp>
#include <ouro/os/process_memory.hpp>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include <gtest/gtest.h>

namespace {

using ouro::Status;
using ouro::os::FileOutput;
namespace fs = std::filesystem;

class FileOutputTest : public testing::Test {
protected:
    void SetUp() override {
        folder_ =
            fs::path(testing::TempDir()) / ("ouro-file-output-" + std::to_string(ouro::os::process_id()));
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

    static std::string content(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    [[nodiscard]] std::ptrdiff_t files() const {
        return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
    }
    static Status write(FileOutput& file, const std::string& text) {
        return file.write(std::as_bytes(std::span(text))).status();
    }

    fs::path folder_;
};

TEST_F(FileOutputTest, AppearsWholeOrNotAtAll) {
    {
        auto file = FileOutput::create(path("a").c_str());
        ASSERT_TRUE(file);
        EXPECT_EQ(write(*file, "half"), Status::ok);
        EXPECT_FALSE(fs::exists(path("a")));
    }
    EXPECT_EQ(files(), 0);
    auto file = FileOutput::create(path("a").c_str());
    ASSERT_TRUE(file);
    EXPECT_EQ(write(*file, "who"), Status::ok);
    EXPECT_EQ(write(*file, ""), Status::ok);
    EXPECT_EQ(write(*file, "le"), Status::ok);
    EXPECT_TRUE(file->flush());
    EXPECT_TRUE(file->finish());
    EXPECT_EQ(content(path("a")), "whole");
    EXPECT_EQ(files(), 1);
}

TEST_F(FileOutputTest, TakesTheNameOfAnOlderFileAtTheEnd) {
    std::ofstream(path("a")) << "old";
    auto first = FileOutput::create(path("a").c_str());
    auto second = FileOutput::create(path("a").c_str());
    ASSERT_TRUE(first && second);
    EXPECT_EQ(write(*first, "first"), Status::ok);
    EXPECT_EQ(write(*second, "second"), Status::ok);
    EXPECT_EQ(content(path("a")), "old");
    EXPECT_TRUE(second->finish());
    EXPECT_EQ(content(path("a")), "second");
    EXPECT_TRUE(first->finish());
    EXPECT_EQ(content(path("a")), "first");
    EXPECT_EQ(files(), 1);
}

TEST_F(FileOutputTest, SaysWhyItCannot) {
    const auto status_of = [](const std::string& name) { return FileOutput::create(name.c_str()).status(); };
    EXPECT_EQ(FileOutput::create(nullptr).status(), Status::bad_argument);
    EXPECT_EQ(status_of(""), Status::bad_argument);
    EXPECT_EQ(status_of(std::string(FileOutput::kMaxPathBytes + 1, 'x')), Status::bad_argument);
    EXPECT_EQ(status_of(folder_.string()), Status::bad_argument);
    EXPECT_EQ(status_of("/dev/null"), Status::bad_argument);
    EXPECT_EQ(status_of(path("no/such/folder")), Status::not_found);
    EXPECT_EQ(status_of("/proc/self/none"), Status::not_found);
    std::ofstream(path("plain")) << "x";
    EXPECT_EQ(status_of(path("plain/below")), Status::bad_argument);
}

TEST_F(FileOutputTest, AFolderThatGoesAwayIsToldAtTheEnd) {
    fs::create_directory(path("gone"));
    auto file = FileOutput::create(path("gone/a").c_str());
    ASSERT_TRUE(file);
    fs::remove_all(path("gone"));
    EXPECT_EQ(file->finish().status(), Status::not_found);
}

}  // namespace
