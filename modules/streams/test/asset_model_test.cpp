#include "small_table.hpp"

#include <ouro/base/random.hpp>
#include <ouro/streams/asset_stack.hpp>

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::AssetHandle;
using ouro::AssetScope;
using ouro::AssetStack;
using ouro::MemoryTable;
using ouro::Random;
using ouro::Status;
using ouro::testing_support::kMib;
using ouro::testing_support::small_table;

// A stack beside nested lists of what it must hold.
class AssetModel {
public:
    explicit AssetModel(AssetStack& assets) : assets_(assets) {}

    [[nodiscard]] std::size_t depth() const { return levels_.size(); }

    void open() {
        const auto scope = assets_.open_scope("level " + std::to_string(levels_.size()));
        ASSERT_TRUE(scope);
        levels_.push_back({*scope, {}});
    }

    void allocate(Random& random, std::uint32_t most_bytes) {
        const std::size_t bytes = 1 + random.below(most_bytes);
        const auto asset = assets_.allocate("asset", bytes, std::size_t{1} << random.below(13));
        if (!asset) {
            ASSERT_EQ(asset.status(), Status::capacity_exhausted);
            return;
        }
        const auto mark = static_cast<unsigned char>(random.below(256));
        std::memset(assets_.writable_bytes(*asset)->data(), mark, bytes);
        levels_.back().assets.push_back({*asset, bytes, mark});
    }

    void release(std::size_t index) {
        const AssetScope outermost = levels_[index].scope;
        for (std::size_t i = index; i < levels_.size(); ++i) {
            gone_scopes_.push_back(levels_[i].scope);
            for (const Held& held : levels_[i].assets)
                gone_.push_back(held.handle);
        }
        levels_.resize(index);
        ASSERT_TRUE(assets_.release(outermost));
    }

    void compare() const {
        std::size_t count = 0;
        for (const Level& level : levels_) {
            for (const Held& held : level.assets) {
                const auto bytes = assets_.bytes(held.handle);
                ASSERT_TRUE(bytes && bytes->size() == held.bytes);
                ASSERT_TRUE(bytes->front() == std::byte{held.mark} && bytes->back() == bytes->front());
                ++count;
            }
        }
        ASSERT_EQ(assets_.stats().assets, count);
        ASSERT_EQ(assets_.stats().depth, levels_.size());
        ASSERT_EQ(assets_.check(), Status::ok);
    }

    void expect_the_rest_gone() const {
        for (const AssetHandle handle : gone_)
            ASSERT_EQ(assets_.bytes(handle).status(), Status::stale_handle);
        for (const AssetScope scope : gone_scopes_)
            ASSERT_EQ(assets_.release(scope).status(), Status::stale_handle);
    }

private:
    struct Held {
        AssetHandle handle;
        std::size_t bytes;
        unsigned char mark;
    };
    struct Level {
        AssetScope scope;
        std::vector<Held> assets;
    };

    AssetStack& assets_;
    std::vector<Level> levels_;
    std::vector<AssetHandle> gone_;
    std::vector<AssetScope> gone_scopes_;
};

void step(AssetModel& model, Random& random) {
    const std::uint32_t choice = random.below(100);
    if (choice < 15) {
        if (model.depth() < AssetStack::kMaxDepth) model.open();
    } else if (model.depth() == 0) {
        return;
    } else if (choice < 85) {
        model.allocate(random, choice < 80 ? 2000 : 400'000);
    } else if (choice >= 92) {
        model.release(random.below(static_cast<std::uint32_t>(model.depth())));
    }
}

TEST(AssetModel, RandomScopesMatchNestedLists) {
    MemoryTable table = small_table();
    auto assets = AssetStack::create(table, {.max_bytes = 4 * kMib, .max_assets = 4000});
    ASSERT_TRUE(assets);
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed);
        AssetModel model(*assets);
        for (int i = 0; i < 1500; ++i) {
            ASSERT_NO_FATAL_FAILURE(step(model, random));
            ASSERT_NO_FATAL_FAILURE(model.compare());
        }
        if (model.depth() != 0) {
            ASSERT_NO_FATAL_FAILURE(model.release(0));
        }
        ASSERT_NO_FATAL_FAILURE(model.expect_the_rest_gone());
        ASSERT_EQ(assets->stats().used_bytes, 0U);
    }
}

}  // namespace
