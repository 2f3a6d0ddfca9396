#include "small_table.hpp"

#include <ouro/memory/seal.hpp>
#include <ouro/os/virtual_memory.hpp>
#include <ouro/streams/asset_stack.hpp>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::AssetHandle;
using ouro::AssetScope;
using ouro::AssetScopeGuard;
using ouro::AssetStack;
using ouro::MemoryTable;
using ouro::Status;
using ouro::testing_support::kKib;
using ouro::testing_support::kMib;
using ouro::testing_support::small_table;

class AssetStackTest : public testing::Test {
protected:
    MemoryTable table_ = small_table();
    AssetStack assets_ =
        *AssetStack::create(table_, {.name = "test assets", .max_bytes = 4 * kMib, .max_assets = 4000});
};

TEST_F(AssetStackTest, ScopesNestAndGoAsAWhole) {
    const auto engine = assets_.open_scope("engine");
    const auto font = assets_.allocate("font", 1000);
    const auto level = assets_.open_scope("level");
    const auto tree = assets_.allocate("tree", 2000);
    const auto cave = assets_.open_scope("cave");
    const auto bat = assets_.allocate("bat", 3000);
    ASSERT_TRUE(engine && font && level && tree && cave && bat);
    EXPECT_TRUE(*assets_.scope_name(*cave) == "cave");
    EXPECT_EQ(assets_.stats().depth, 3U);
    EXPECT_EQ(assets_.info(*bat)->depth, 3U);
    EXPECT_TRUE(assets_.info(*bat)->name == "bat");
    const std::size_t before_level = 1000;

    ASSERT_TRUE(assets_.release(*level));
    EXPECT_EQ(assets_.stats().used_bytes, before_level);
    EXPECT_EQ(assets_.bytes(*tree).status(), Status::stale_handle);
    EXPECT_EQ(assets_.bytes(*bat).status(), Status::stale_handle);
    EXPECT_EQ(assets_.writable_bytes(*bat).status(), Status::stale_handle);
    EXPECT_EQ(assets_.info(*bat).status(), Status::stale_handle);
    EXPECT_EQ(assets_.release(*cave).status(), Status::stale_handle);
    EXPECT_EQ(assets_.release(*level).status(), Status::stale_handle);
    EXPECT_EQ(assets_.scope_name(*level).status(), Status::stale_handle);
    EXPECT_EQ(assets_.bytes(*font)->size(), 1000U);

    // Its place has another owner now, and the old handle still says so.
    const auto next = assets_.open_scope("next level");
    const auto rock = assets_.allocate("rock", 10);
    ASSERT_TRUE(next && rock);
    EXPECT_EQ(assets_.bytes(*tree).status(), Status::stale_handle);
    EXPECT_EQ(assets_.release(*level).status(), Status::stale_handle);
    EXPECT_EQ(assets_.bytes(*rock)->size(), 10U);
    EXPECT_EQ(assets_.check(), Status::ok);
    EXPECT_EQ(assets_.bytes(AssetHandle()).status(), Status::stale_handle);
    EXPECT_EQ(assets_.release(AssetScope()).status(), Status::stale_handle);
}

struct Vertex {
    float place[3];
    std::uint32_t color;
};

TEST_F(AssetStackTest, ViewsHaveTypes) {
    const AssetScopeGuard scope(assets_, "level");
    ASSERT_EQ(scope.status(), Status::ok);
    const auto mesh = assets_.allocate("mesh", 10 * sizeof(Vertex));
    const auto odd = assets_.allocate("odd", 7, 1);
    const auto next = assets_.allocate("misaligned", 16, 1);
    ASSERT_TRUE(mesh && odd && next);
    assets_.writable_bytes(*mesh)->front() = std::byte{1};
    const auto vertices = assets_.view<Vertex>(*mesh);
    ASSERT_TRUE(vertices);
    EXPECT_EQ(vertices->size(), 10U);
    EXPECT_TRUE(ouro::is_aligned(vertices->data(), 64));
    EXPECT_EQ(assets_.view<std::uint16_t>(*odd).status(), Status::out_of_range);
    EXPECT_EQ(assets_.view<std::uint64_t>(*next).status(), Status::bad_alignment);
    EXPECT_EQ(assets_.view<std::byte>(*odd)->size(), 7U);
}

TEST_F(AssetStackTest, NamesAreFoundFromTheInside) {
    const auto engine = assets_.open_scope("engine");
    const auto plain = assets_.allocate("grass", 10);
    const auto level = assets_.open_scope("level");
    const auto snowy = assets_.allocate("grass", 20);
    ASSERT_TRUE(engine && plain && level && snowy);
    EXPECT_EQ(*assets_.find("grass"), *snowy);
    EXPECT_EQ(assets_.find("sand").status(), Status::not_found);
    ASSERT_TRUE(assets_.release(*level));
    EXPECT_EQ(*assets_.find("grass"), *plain);
    std::size_t seen = 0;
    assets_.visit_assets([&](const AssetStack::AssetInfo& asset) {
        EXPECT_EQ(asset.handle, *plain);
        EXPECT_EQ(asset.bytes.size(), 10U);
        ++seen;
    });
    EXPECT_EQ(seen, 1U);
}

TEST_F(AssetStackTest, BadRequestsChangeNothing) {
    EXPECT_EQ(assets_.allocate("homeless", 10).status(), Status::not_found);
    EXPECT_EQ(assets_.open_scope("").status(), Status::bad_argument);
    const std::string long_name(AssetStack::kMaxNameBytes + 1, 'x');
    EXPECT_EQ(assets_.open_scope(long_name).status(), Status::bad_argument);
    const AssetScopeGuard scope(assets_, long_name.substr(1));
    ASSERT_EQ(scope.status(), Status::ok);
    EXPECT_EQ(assets_.allocate("", 10).status(), Status::bad_argument);
    EXPECT_EQ(assets_.allocate(long_name, 10).status(), Status::bad_argument);
    EXPECT_EQ(assets_.allocate("none", 0).status(), Status::zero_size);
    EXPECT_EQ(assets_.allocate("askew", 10, 3).status(), Status::bad_alignment);
    EXPECT_EQ(assets_.allocate("huge", ~std::size_t{0}).status(), Status::capacity_exhausted);
    EXPECT_EQ(assets_.load(nullptr).status(), Status::bad_argument);
    EXPECT_EQ(assets_.load("").status(), Status::bad_argument);
    EXPECT_EQ(assets_.allocate("too large", 5 * kMib).status(), Status::capacity_exhausted);
    EXPECT_TRUE(assets_.last_refusal().name() == "test assets");
    EXPECT_EQ(assets_.last_refusal().wanted_bytes, 5 * kMib);
    EXPECT_EQ(assets_.stats().assets, 0U);
    EXPECT_EQ(assets_.stats().used_bytes, 0U);
    EXPECT_EQ(assets_.check(), Status::ok);
}

TEST_F(AssetStackTest, RecordsAndDepthAreBounded) {
    std::vector<AssetScope> scopes;
    for (std::size_t depth = 0; depth < AssetStack::kMaxDepth; ++depth) {
        const auto scope = assets_.open_scope("deeper");
        ASSERT_TRUE(scope);
        scopes.push_back(*scope);
    }
    EXPECT_EQ(assets_.open_scope("too deep").status(), Status::capacity_exhausted);
    ASSERT_TRUE(assets_.release(scopes.front()));
    EXPECT_EQ(assets_.stats().depth, 0U);

    auto few = AssetStack::create(table_, {.name = "few", .max_bytes = kMib, .max_assets = 1});
    ASSERT_TRUE(few);
    const auto level = few->open_scope("level");
    ASSERT_TRUE(level);
    Status status = Status::ok;
    std::size_t count = 0;
    for (; status == Status::ok; ++count)
        status = few->allocate("small", 1, 1).status();
    // Records come in whole pages.
    EXPECT_EQ(status, Status::capacity_exhausted);
    EXPECT_TRUE(few->last_refusal().name() == "few: names");
    EXPECT_EQ(few->stats().assets, count - 1);
    ASSERT_TRUE(few->release(*level));
    EXPECT_TRUE(few->open_scope("again"));
    EXPECT_TRUE(few->allocate("small", 1, 1));
    EXPECT_EQ(few->check(), Status::ok);
}

TEST_F(AssetStackTest, BadOptionsAreNamed) {
    const auto status_of = [&](const AssetStack::Options& options) {
        return AssetStack::create(table_, options).status();
    };
    EXPECT_EQ(status_of({.name = ""}), Status::bad_argument);
    EXPECT_EQ(status_of({.max_bytes = 0}), Status::zero_size);
    EXPECT_EQ(status_of({.max_assets = 0}), Status::bad_argument);
    EXPECT_EQ(status_of({.max_assets = ~std::size_t{0}}), Status::size_overflow);
    EXPECT_EQ(status_of({.max_bytes = 100 * kMib}), Status::capacity_exhausted);
    EXPECT_EQ(table_.stats().streams, 2U);
}

TEST_F(AssetStackTest, MemoryStaysForTheNextLevelUntilItIsTrimmed) {
    const auto level = assets_.open_scope("level");
    ASSERT_TRUE(level && assets_.allocate("large", 3 * kMib));
    ASSERT_TRUE(assets_.release(*level));
    EXPECT_GE(assets_.stats().committed_bytes, 3 * kMib);
    {
        const ouro::SealScope sealed;
        const AssetScopeGuard next(assets_, "next");
        EXPECT_TRUE(assets_.allocate("large", 3 * kMib));
        EXPECT_EQ(assets_.allocate("larger", kMib - 1).status(), Status::sealed);
        assets_.trim();
        EXPECT_GE(assets_.stats().committed_bytes, 3 * kMib);
    }
    assets_.trim();
    EXPECT_EQ(assets_.stats().committed_bytes, 0U);
    EXPECT_EQ(assets_.stats().high_water_bytes, 3 * kMib);
}

TEST_F(AssetStackTest, TellsWhetherPagesAreHuge) {
    auto huge = AssetStack::create(
        table_,
        {.name = "huge", .max_bytes = 8 * kMib, .max_assets = 10, .pages = ouro::os::PageKind::transparent});
    ASSERT_TRUE(huge);
    const AssetScopeGuard scope(*huge, "level");
    const auto asset = huge->allocate("large", 5 * kMib);
    ASSERT_TRUE(asset);
    const auto bytes = *huge->writable_bytes(*asset);
    std::memset(bytes.data(), 1, bytes.size());
    const ouro::os::HugePageReport report = huge->page_report();
    EXPECT_EQ(report.asked, ouro::os::PageKind::transparent);
    // What the system gave is its own affair, but the report is consistent.
    EXPECT_EQ(report.given == ouro::os::PageKind::transparent, report.huge_bytes != 0);
    EXPECT_TRUE(report.huge_bytes != 0 || report.reason != Status::ok);
    EXPECT_LE(report.huge_bytes, huge->stats().committed_bytes);
    EXPECT_EQ(assets_.page_report().asked, ouro::os::PageKind::normal);
    EXPECT_EQ(assets_.page_report().reason, Status::ok);
}

}  // namespace
