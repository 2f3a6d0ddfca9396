#include "sample_library.hpp"

#include <ouro/os/loaded_library.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace {

using ouro::MemoryBlock;
using ouro::Status;
using ouro::os::find_library_data;
using ouro::os::LibraryData;
using ouro::os::testing_support::SampleLibrary;

bool holds(const LibraryData& data, const void* address) {
    return std::ranges::any_of(data.ranges(),
                               [&](const MemoryBlock& range) { return range.contains(address); });
}

struct Sample {
    const char* path;
    const char* name;
};

class LibraryDataOf : public testing::TestWithParam<Sample> {};

TEST_P(LibraryDataOf, ItsVariablesAndNothingElse) {
    const SampleLibrary library(GetParam().path);
    const auto data = find_library_data(GetParam().name);
    ASSERT_TRUE(data) << ouro::status_name(data.status());
    EXPECT_TRUE(holds(*data, library.symbol("sample_data")));
    auto* zeros = static_cast<char*>(library.symbol("sample_zeros"));
    EXPECT_TRUE(holds(*data, zeros));
    EXPECT_TRUE(holds(*data, zeros + 19'999));
    EXPECT_FALSE(holds(*data, library.symbol("sample_table")));
    EXPECT_FALSE(holds(*data, library.symbol("sample_malloc")));
    EXPECT_FALSE(holds(*data, library.symbol("sample_of_thread")));
    EXPECT_GE(data->thread_local_bytes(), sizeof(int));
    EXPECT_GT(data->bytes(), 20'000U);
}

// What the loader writes when a function is called for the first time is not among them.
TEST_P(LibraryDataOf, CallsChangeNothingInThem) {
    const SampleLibrary library(GetParam().path);
    const auto data = find_library_data(GetParam().name);
    ASSERT_TRUE(data);
    std::vector<std::byte> before;
    for (const MemoryBlock& range : data->ranges())
        before.insert(before.end(), range.begin(), range.end());
    std::free(library.function<void*(std::size_t)>("sample_malloc")(10));
    std::free(library.function<char*(const char*)>("sample_strdup")("text"));
    std::size_t offset = 0;
    for (const MemoryBlock& range : data->ranges()) {
        EXPECT_EQ(std::memcmp(before.data() + offset, range.data, range.size), 0);
        offset += range.size;
    }
}

TEST_P(LibraryDataOf, AllOfThemCanBeWrittenBack) {
    const SampleLibrary library(GetParam().path);
    const auto data = find_library_data(GetParam().name);
    ASSERT_TRUE(data);
    for (const MemoryBlock& range : data->ranges()) {
        for (std::byte& byte : range.bytes()) {
            auto& written = static_cast<volatile std::byte&>(byte);
            written = static_cast<std::byte>(written);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Libraries, LibraryDataOf,
                         testing::Values(Sample{OURO_SAMPLE_NOW, "libouro_sample_now"},
                                         Sample{OURO_SAMPLE_LAZY, "libouro_sample_lazy.so"}));

TEST(LoadedLibrary, BadNamesAreRefused) {
    EXPECT_EQ(find_library_data("").status(), Status::bad_argument);
    EXPECT_EQ(find_library_data("libouro_nowhere").status(), Status::not_found);
    const SampleLibrary library(OURO_SAMPLE_NOW);
    EXPECT_EQ(find_library_data("libouro_sample").status(), Status::not_found);
    for (const char* name : {"libc", "libc.so.6", "ld-linux-x86-64.so.2", "linux-vdso.so.1"})
        EXPECT_EQ(find_library_data(name).status(), Status::permission_denied) << name;
}

TEST(LoadedLibrary, HolesAreCutOut) {
    std::array<std::byte, 100> bytes{};
    LibraryData data;
    ASSERT_TRUE(data.add({bytes.data(), 40}));
    ASSERT_TRUE(data.add({bytes.data() + 50, 50}));
    EXPECT_TRUE(data.remove({bytes.data() + 10, 5}));
    EXPECT_TRUE(data.remove({bytes.data() + 30, 25}));
    EXPECT_TRUE(data.remove({bytes.data() + 90, 10}));
    const std::array expected = {MemoryBlock{bytes.data(), 10}, MemoryBlock{bytes.data() + 15, 15},
                                 MemoryBlock{bytes.data() + 55, 35}};
    EXPECT_TRUE(std::ranges::equal(data.ranges(), expected));
    EXPECT_EQ(data.bytes(), 60U);
    EXPECT_TRUE(data.remove({bytes.data(), 100}));
    EXPECT_TRUE(data.ranges().empty());
}

TEST(LoadedLibrary, TooManyPiecesAreNoticed) {
    std::array<std::byte, 100> bytes{};
    LibraryData data;
    for (std::size_t index = 0; index < LibraryData::kMaxRanges; ++index)
        ASSERT_TRUE(data.add({bytes.data() + 4 * index, 3}));
    EXPECT_FALSE(data.add({bytes.data() + 90, 3}));
    EXPECT_FALSE(data.remove({bytes.data() + 1, 1}));
}

}  // namespace
