#pragma once

#include "small_table.hpp"

#include <ouro/os/process_memory.hpp>
#include <ouro/streams/asset_stack.hpp>

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace ouro::testing_support {

// A stack with an open scope, and a folder of files to load.
class AssetFiles : public testing::Test {
protected:
    void SetUp() override {
        const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
        folder_ = std::filesystem::path(testing::TempDir()) /
                  ("ouro-assets-" + std::string(test->name()) + std::to_string(os::process_id()));
        std::filesystem::create_directories(folder_);
        const auto level = assets_.open_scope("level");
        ASSERT_TRUE(level);
        level_ = *level;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
    [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(path(name), std::ios::binary) << text;
        return path(name);
    }
    [[nodiscard]] std::string text_of(AssetHandle asset) const {
        const auto bytes = assets_.bytes(asset);
        if (!bytes) return std::string(status_name(bytes.status()));
        return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
    }

    // Bytes that differ from place to place.
    [[nodiscard]] static std::string pattern(std::size_t bytes, unsigned seed = 0) {
        std::string text(bytes, ' ');
        for (std::size_t i = 0; i < bytes; ++i)
            text[i] = static_cast<char>('a' + (i + i / 26 + seed) % 26);
        return text;
    }

    std::filesystem::path folder_;
    MemoryTable table_ = small_table();
    AssetStack assets_ = *AssetStack::create(table_, {.name = "file assets", .max_bytes = 4 * kMib});
    AssetScope level_;
};

}  // namespace ouro::testing_support
