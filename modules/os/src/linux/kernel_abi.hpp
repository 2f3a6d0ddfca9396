#pragma once

#include <cstdint>

#include <linux/ioctl.h>

// Parts of the kernel's interface that are newer than the headers of Debian 12: userfaultfd's asynchronous
// write protection and PAGEMAP_SCAN, both of Linux 6.7, and PROCMAP_QUERY of Linux 6.11.
namespace ouro::os::abi {

inline constexpr int kUserModeOnly = 1;  // a flag of userfaultfd(2), Linux 5.11

inline constexpr std::uint64_t kFeaturePagefaultFlagWp = 1U << 0;
inline constexpr std::uint64_t kFeatureWpHugetlbfsShmem = 1U << 12;
inline constexpr std::uint64_t kFeatureWpUnpopulated = 1U << 13;
inline constexpr std::uint64_t kFeatureWpAsync = 1U << 15;

// Everything that tracking of memory objects needs.
inline constexpr std::uint64_t kTrackingFeatures =
    kFeaturePagefaultFlagWp | kFeatureWpHugetlbfsShmem | kFeatureWpUnpopulated | kFeatureWpAsync;

// The argument of PAGEMAP_SCAN.
struct PagemapScan {
    std::uint64_t size;
    std::uint64_t flags;
    std::uint64_t start;
    std::uint64_t end;
    std::uint64_t walk_end;
    std::uint64_t ranges;
    std::uint64_t range_count;
    std::uint64_t max_pages;
    std::uint64_t inverted_categories;
    std::uint64_t required_categories;
    std::uint64_t any_of_categories;
    std::uint64_t returned_categories;
};
static_assert(sizeof(PagemapScan) == 96);

inline constexpr std::uint64_t kScanWriteProtect = 1U << 0;
inline constexpr std::uint64_t kScanCheckAsync = 1U << 1;
inline constexpr std::uint64_t kPageIsWritten = 1U << 1;
inline constexpr std::uint64_t kPageIsHuge = 1U << 6;
inline constexpr unsigned long kPagemapScan = _IOWR('f', 16, PagemapScan);

// The argument of PROCMAP_QUERY: with no flags, which mapping an address is in.
struct ProcmapQuery {
    std::uint64_t size;
    std::uint64_t flags;
    std::uint64_t address;
    std::uint64_t start;
    std::uint64_t end;
    std::uint64_t mapping_flags;
    std::uint64_t page_size;
    std::uint64_t offset;
    std::uint64_t inode;
    std::uint32_t device_major;
    std::uint32_t device_minor;
    std::uint32_t name_size;
    std::uint32_t build_id_size;
    std::uint64_t name;
    std::uint64_t build_id;
};
static_assert(sizeof(ProcmapQuery) == 104);

inline constexpr unsigned long kProcmapQuery = _IOWR('f', 17, ProcmapQuery);

}  // namespace ouro::os::abi
