#include "asset_files.hpp"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::AssetHandle;
using ouro::AssetScopeGuard;
using ouro::AssetStack;
using ouro::LoadOptions;
using ouro::LoadProgress;
using ouro::LoadWay;
using ouro::Status;
using ouro::testing_support::AssetFiles;
using ouro::testing_support::kKib;
using ouro::testing_support::kMib;

// Both ways, with what a callback may do between.
class AssetLoadWays : public AssetFiles, public testing::WithParamInterface<LoadWay> {
protected:
    using Callback = std::function<bool(const LoadProgress&)>;

    ouro::Expected<AssetHandle> load(const std::string& file, const Callback& callback,
                                     LoadOptions options = {}) {
        options.way = GetParam();
        options.step_bytes = 10 * kKib;
        options.progress = [](const LoadProgress& progress, void* context) {
            return (*static_cast<const Callback*>(context))(progress);
        };
        options.context = const_cast<Callback*>(&callback);
        return assets_.load(file.c_str(), options);
    }
    ouro::Expected<AssetHandle> load(const std::string& file, LoadOptions options = {}) {
        options.way = GetParam();
        return assets_.load(file.c_str(), options);
    }

    // A load that must fail and leave no trace.
    void expect_refused(Status expected, const std::function<ouro::Expected<AssetHandle>()>& attempt) {
        const auto neighbour = assets_.allocate("neighbour", 100);
        ASSERT_TRUE(neighbour);
        std::memset(assets_.writable_bytes(*neighbour)->data(), 'n', 100);
        const AssetStack::Stats before = assets_.stats();
        EXPECT_EQ(attempt().status(), expected);
        EXPECT_EQ(assets_.stats().used_bytes, before.used_bytes);
        EXPECT_EQ(assets_.stats().assets, before.assets);
        EXPECT_EQ(assets_.check(), Status::ok);
        EXPECT_EQ(text_of(*neighbour), std::string(100, 'n'));
        const std::string text = pattern(50'000, 3);
        const auto after = load(write("after", text));
        ASSERT_TRUE(after);
        EXPECT_EQ(text_of(*after), text);
    }
};

TEST_P(AssetLoadWays, FilesLieInPlaceOneBehindTheOther) {
    const std::string first_text = pattern(100'000, 1);
    const std::string second_text = pattern(3, 2);
    const auto first = load(write("first.mesh", first_text));
    const auto second = load(write("second.mesh", second_text), {.name = "another name", .alignment = 8192});
    ASSERT_TRUE(first && second);
    EXPECT_EQ(text_of(*first), first_text);
    EXPECT_EQ(text_of(*second), second_text);
    EXPECT_EQ(*assets_.find("first.mesh"), *first);
    EXPECT_EQ(*assets_.find("another name"), *second);
    EXPECT_TRUE(ouro::is_aligned(assets_.bytes(*second)->data(), 8192));
    EXPECT_EQ(assets_.stats().loads, 2U);
    // What was loaded can be changed; the file stays.
    (*assets_.writable_bytes(*first))[0] = std::byte{'!'};
    EXPECT_EQ(text_of(*load(path("first.mesh"))), first_text);
    EXPECT_EQ(assets_.check(), Status::ok);
    ASSERT_TRUE(assets_.release(level_));
    EXPECT_EQ(assets_.bytes(*first).status(), Status::stale_handle);
    // Plain memory lies there again.
    const AssetScopeGuard next(assets_, "next");
    const auto plain = assets_.allocate("plain", 300'000);
    ASSERT_TRUE(plain);
    std::memset(assets_.writable_bytes(*plain)->data(), 7, 300'000);
}

TEST_P(AssetLoadWays, TheCallbackSeesItComing) {
    std::vector<std::uint64_t> done;
    const auto asset = load(write("a", pattern(25 * kKib)), [&](const LoadProgress& progress) {
        EXPECT_TRUE(progress.name == "a");
        EXPECT_EQ(progress.total_bytes, 25 * kKib);
        done.push_back(progress.done_bytes);
        return true;
    });
    ASSERT_TRUE(asset);
    const bool is_read = GetParam() == LoadWay::read;
    const std::vector<std::uint64_t> steps{0, 10 * kKib, 20 * kKib, 25 * kKib};
    EXPECT_EQ(done, is_read ? steps : (std::vector<std::uint64_t>{0, 25 * kKib}));
}

TEST_P(AssetLoadWays, TheCallbackCanCancel) {
    const std::string file = write("a", pattern(25 * kKib));
    for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{25 * kKib}}) {
        SCOPED_TRACE(at);
        expect_refused(Status::cancelled, [&] {
            return load(file, [at](const LoadProgress& progress) { return progress.done_bytes != at; });
        });
    }
    EXPECT_EQ(assets_.stats().failed_loads, 2U);
}

TEST_P(AssetLoadWays, TheCallbackCannotTouchTheStack) {
    const auto asset = load(write("a", pattern(25 * kKib)), [&](const LoadProgress&) {
        EXPECT_EQ(assets_.allocate("inner", 1).status(), Status::busy);
        EXPECT_EQ(assets_.open_scope("inner").status(), Status::busy);
        EXPECT_EQ(assets_.release(level_).status(), Status::busy);
        EXPECT_EQ(assets_.load(path("a").c_str()).status(), Status::busy);
        return true;
    });
    EXPECT_TRUE(asset);
}

TEST_P(AssetLoadWays, AMissingFileIsNotFound) {
    expect_refused(Status::not_found, [&] { return load(path("none")); });
    expect_refused(Status::bad_argument, [&] { return load(folder_.string()); });
    expect_refused(Status::zero_size, [&] { return load(write("empty", "")); });
}

TEST_P(AssetLoadWays, ATruncatedFileIsToldByItsLength) {
    const std::string file = write("a", pattern(1000));
    expect_refused(Status::corrupt_data, [&] { return load(file, {.expected_bytes = 1001}); });
    expect_refused(Status::corrupt_data, [&] { return load(file, {.expected_bytes = 999}); });
    EXPECT_TRUE(load(file, {.expected_bytes = 1000}));
}

TEST_P(AssetLoadWays, AFileThatChangesItsLengthMeanwhileIsBusy) {
    const std::size_t bytes = 25 * kKib;
    for (const std::size_t other : {std::size_t{0}, std::size_t{100}, 15 * kKib, 30 * kKib, 100 * kKib}) {
        for (const std::size_t at : {std::size_t{0}, bytes}) {
            SCOPED_TRACE("to " + std::to_string(other) + " at " + std::to_string(at));
            const std::string file = write("a", pattern(bytes));
            expect_refused(Status::busy, [&] {
                return load(file, [&](const LoadProgress& progress) {
                    if (progress.done_bytes == at) std::filesystem::resize_file(file, other);
                    return true;
                });
            });
        }
    }
}

TEST_P(AssetLoadWays, AFileThatDoesNotFitIsRefused) {
    const std::string file = write("large", pattern(5 * kMib));
    expect_refused(Status::capacity_exhausted, [&] { return load(file); });
    EXPECT_TRUE(assets_.last_refusal().name() == "file assets");
    EXPECT_GE(assets_.last_refusal().wanted_bytes, 5 * kMib);
    expect_refused(Status::bad_alignment, [&] { return load(file, {.alignment = 3}); });
}

// Scopes with mapped files among others come and go; what stays is never touched by it.
TEST_P(AssetLoadWays, ReleasedFilesLeaveTheOthersAlone) {
    const std::string kept_text = pattern(20'000, 9);
    const auto kept = load(write("kept", kept_text));
    ASSERT_TRUE(kept);
    const std::string file = write("level", pattern(60'000, 4));
    for (unsigned round = 0; round < 20; ++round) {
        const AssetScopeGuard inner(assets_, "inner");
        const auto plain = assets_.allocate("plain", 5000 + round);
        const auto loaded = load(file);
        const auto behind = assets_.allocate("behind", 100);
        ASSERT_TRUE(plain && loaded && behind);
        std::memset(assets_.writable_bytes(*plain)->data(), 1, 5000 + round);
        std::memset(assets_.writable_bytes(*loaded)->data(), 2, 60'000);
        std::memset(assets_.writable_bytes(*behind)->data(), 3, 100);
        ASSERT_EQ(text_of(*kept), kept_text);
        ASSERT_EQ(assets_.check(), Status::ok);
    }
    EXPECT_EQ(text_of(*kept), kept_text);
    EXPECT_EQ(text_of(*load(file)), pattern(60'000, 4));
    EXPECT_EQ(table_.check(), Status::ok);
}

INSTANTIATE_TEST_SUITE_P(Ways, AssetLoadWays, testing::Values(LoadWay::read, LoadWay::map),
                         [](const auto& chosen) {
                             return std::string(chosen.param == LoadWay::read ? "read" : "map");
                         });

}  // namespace
