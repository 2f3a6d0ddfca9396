#include "linux/text_file.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace {

using ouro::Status;
namespace os = ouro::os;

class TextFile : public testing::Test {
protected:
    void SetUp() override { path_ = testing::TempDir() + "ouro_text_file_" + std::to_string(::getpid()); }
    void TearDown() override { std::remove(path_.c_str()); }

    void write(const std::string& text) { std::ofstream(path_) << text; }
    [[nodiscard]] std::vector<std::string> lines() const {
        std::vector<std::string> found;
        EXPECT_TRUE(os::for_each_line(
            path_.c_str(),
            [](std::string_view line, void* context) {
                static_cast<std::vector<std::string>*>(context)->emplace_back(line);
                return true;
            },
            &found));
        return found;
    }

    std::string path_;
};

TEST_F(TextFile, LinesOfAnyNumberArriveWhole) {
    std::string text;
    std::vector<std::string> expected;
    for (int i = 0; i < 5000; ++i) {
        expected.push_back(std::string(static_cast<std::size_t>(i % 97), 'x') + std::to_string(i));
        text += expected.back() + "\n";
    }
    write(text);
    EXPECT_EQ(lines(), expected);
    write("no end");
    EXPECT_EQ(lines(), std::vector<std::string>{"no end"});
    write("");
    EXPECT_EQ(lines(), std::vector<std::string>{});
}

TEST_F(TextFile, ALineLongerThanTheBufferComesInPieces) {
    const std::string line(10'000, 'y');
    write(line + "\nnext\n");
    std::string joined;
    for (const std::string& piece : lines())
        joined += piece;
    EXPECT_EQ(joined, line + "next");
}

TEST_F(TextFile, MissingFilesSaySo) {
    std::array<char, 16> buffer;
    EXPECT_EQ(os::read_text_file("/nonexistent/file", buffer).status(), Status::not_found);
    EXPECT_EQ(os::read_number("/nonexistent/file").status(), Status::not_found);
}

TEST_F(TextFile, NumbersAreChecked) {
    EXPECT_EQ(os::parse_number("  42 kB").value_or(0), 42U);
    EXPECT_EQ(os::parse_number("ff", 16).value_or(0), 255U);
    EXPECT_EQ(os::parse_number("").status(), Status::corrupt_data);
    EXPECT_EQ(os::parse_number("   ").status(), Status::corrupt_data);
    EXPECT_EQ(os::parse_number("-1").status(), Status::corrupt_data);
    EXPECT_EQ(os::parse_number("99999999999999999999").status(), Status::corrupt_data);
    EXPECT_EQ(os::find_field("a: 1\nb: 2\n", "b:").value_or(""), " 2");
    EXPECT_EQ(os::find_field("a: 1\n", "c:").status(), Status::not_found);
}

}  // namespace
