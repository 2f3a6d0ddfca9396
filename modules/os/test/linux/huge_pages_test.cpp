#include "mapping_table.hpp"

#include <ouro/os/capabilities.hpp>
#include <ouro/os/huge_pages.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <cstdint>
#include <cstring>

#include <gtest/gtest.h>

namespace {

using ouro::Status;
using ouro::os::PageKind;
namespace os = ouro::os;

class HugePages : public testing::TestWithParam<PageKind> {};

// Whatever was asked for, memory comes, and the report agrees with the kernel's own tables.
TEST_P(HugePages, ComeOrAreReportedMissing) {
    const os::testing_support::NoMappingLeak balanced;
    const auto huge = os::allocate_huge((std::size_t{8} << 20) + 1, GetParam());
    ASSERT_TRUE(huge);
    const os::HugePageReport& report = huge->report;
    EXPECT_EQ(huge->block.size, std::size_t{10} << 20);
    std::memset(huge->block.data, 0x5A, huge->block.size);
    EXPECT_EQ(report.asked, GetParam());
    EXPECT_LE(report.given, report.asked);
    EXPECT_EQ(report.huge_bytes, os::huge_bytes_in(huge->block).value_or(std::size_t{1}));
    EXPECT_EQ(report.huge_bytes == 0, report.given == PageKind::normal);
    EXPECT_EQ(report.page_bytes, report.given == PageKind::normal ? os::page_size() : os::huge_page_size());
    EXPECT_TRUE(report.given == report.asked || report.reason != Status::ok);
    const bool all_huge = report.reason == Status::ok && report.asked != PageKind::normal;
    EXPECT_TRUE(!all_huge || report.huge_bytes == huge->block.size);
    EXPECT_TRUE(os::release_huge(*huge));
}

INSTANTIATE_TEST_SUITE_P(EachKind, HugePages,
                         testing::Values(PageKind::normal, PageKind::transparent, PageKind::reserved));

TEST(HugePagesReport, TransparentOnesAreGivenWhereTheSystemOffersThem) {
    const os::Capabilities report = os::query_capabilities();
    if (report.transparent_huge_pages < os::TransparentHugePages::madvise) {
        GTEST_SKIP() << "needs transparent_huge_pages";
    }
    const auto huge = os::allocate_huge(std::size_t{16} << 20, PageKind::transparent);
    ASSERT_TRUE(huge);
    EXPECT_EQ(huge->report.given, PageKind::transparent);
    EXPECT_GT(huge->report.huge_bytes, 0U);
    EXPECT_TRUE(os::release_huge(*huge));
}

TEST(HugePagesReport, IsExactForPartOfAMapping) {
    const os::Capabilities report = os::query_capabilities();
    if (report.transparent_huge_pages < os::TransparentHugePages::madvise) {
        GTEST_SKIP() << "needs transparent_huge_pages";
    }
    if (report.pagemap_scan != Status::ok) GTEST_SKIP() << "needs pagemap_scan";
    const auto block = os::reserve({.bytes = std::size_t{8} << 20, .alignment = std::size_t{2} << 20});
    ASSERT_TRUE(block);
    ASSERT_TRUE(os::commit(*block));
    ASSERT_TRUE(os::advise_huge(*block, true));
    const ouro::MemoryBlock untouched = block->sub(0, block->size / 2);
    const ouro::MemoryBlock touched = block->sub(block->size / 2, block->size / 2);
    std::memset(touched.data, 1, touched.size);
    EXPECT_EQ(os::huge_bytes_in(untouched).value_or(std::size_t{1}), 0U);
    EXPECT_GT(os::huge_bytes_in(touched).value_or(std::size_t{0}), 0U);
    ASSERT_TRUE(os::release(*block));
}

TEST(HugePagesReport, ReservedOnesAreMissedWithTheReason) {
    if (os::query_capabilities().huge_pages_free != 0) {
        SUCCEED();
        return;
    }
    const auto huge = os::allocate_huge(1, PageKind::reserved);
    ASSERT_TRUE(huge);
    EXPECT_NE(huge->report.given, PageKind::reserved);
    EXPECT_EQ(huge->report.reason, Status::no_huge_pages);
    EXPECT_TRUE(os::release_huge(*huge));
}

TEST(HugePagesReport, RefusesSenselessSizes) {
    EXPECT_EQ(os::allocate_huge(0, PageKind::transparent).status(), Status::zero_size);
    EXPECT_EQ(os::allocate_huge(SIZE_MAX, PageKind::reserved).status(), Status::size_overflow);
    EXPECT_EQ(os::allocate_huge(SIZE_MAX / 4, PageKind::reserved).status(), Status::out_of_address_space);
}

}  // namespace
