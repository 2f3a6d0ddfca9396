#include "kernel_abi.hpp"
#include "mappings.hpp"
#include "page_range.hpp"
#include "system_calls.hpp"
#include "text_file.hpp"
#include "userfaultfd.hpp"

#include <ouro/os/huge_pages.hpp>
#include <ouro/os/write_tracking.hpp>

#include <array>
#include <atomic>
#include <string_view>

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>

namespace ouro::os {
namespace {

constexpr std::uint64_t kKib = 1024;

// For kernels without PAGEMAP_SCAN: walks /proc/self/smaps, whose counts are of whole mappings. A line with
// addresses starts a mapping, the lines of counts behind it belong to it.
struct HugeByteCount {
    MemoryBlock range;
    std::size_t overlap = 0;
    std::size_t total = 0;

    bool visit(std::string_view line) noexcept {
        const std::size_t dash = line.find('-');
        const std::size_t colon = line.find(':');
        if (dash != std::string_view::npos && (colon == std::string_view::npos || dash < colon)) {
            start_mapping(text_until(line, dash), text_from(line, dash + 1));
        } else if (overlap != 0) {
            add_field(line);
        }
        return true;
    }

    void start_mapping(std::string_view first, std::string_view last) noexcept {
        const auto begin = parse_number(first, 16);
        const auto end = parse_number(last, 16);
        overlap = 0;
        if (!begin || !end) return;
        const auto range_begin = reinterpret_cast<std::uintptr_t>(range.data);
        const std::uint64_t low = *begin > range_begin ? *begin : range_begin;
        const std::uint64_t high = *end < range_begin + range.size ? *end : range_begin + range.size;
        if (low < high) overlap = static_cast<std::size_t>(high - low);
    }

    void add_field(std::string_view line) noexcept {
        for (const std::string_view key :
             {"AnonHugePages:", "ShmemPmdMapped:", "Private_Hugetlb:", "Shared_Hugetlb:"}) {
            if (!line.starts_with(key)) continue;
            const auto kib = parse_number(text_from(line, key.size()));
            const std::size_t bytes = kib ? static_cast<std::size_t>(*kib * kKib) : 0;
            total += bytes < overlap ? bytes : overlap;
        }
    }
};

// Asks the page tables themselves: exact for any part of a mapping.
Expected<std::size_t> scan_huge_bytes(int pagemap, MemoryBlock block) noexcept {
    std::array<WrittenRange, 64> found;
    std::size_t total = 0;
    abi::PagemapScan scan{};
    scan.size = sizeof(scan);
    scan.walk_end = reinterpret_cast<std::uintptr_t>(block.data);
    scan.end = scan.walk_end + block.size;
    scan.ranges = reinterpret_cast<std::uintptr_t>(found.data());
    scan.range_count = found.size();
    scan.required_categories = abi::kPageIsHuge;
    scan.returned_categories = abi::kPageIsHuge;
    while (scan.walk_end < scan.end) {
        scan.start = scan.walk_end;
        const long count =
            attempt(OsCall::scan_pagemap, [&] { return long{::ioctl(pagemap, abi::kPagemapScan, &scan)}; });
        if (count < 0) return status_of_error(errno);
        for (long i = 0; i < count; ++i)
            total += found[static_cast<std::size_t>(i)].block().size;
    }
    return total;
}

// Why the system gave no huge pages although it was asked and did not refuse.
Status why_not_transparent() noexcept {
    std::array<char, 128> buffer;
    const auto mode = read_text_file("/sys/kernel/mm/transparent_hugepage/enabled", buffer);
    const bool never = !mode || mode->find("[never]") != std::string_view::npos;
    const bool disabled =
        attempt(OsCall::query_system, [] { return ::prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0); }) > 0;
    return never || disabled ? Status::not_supported : Status::no_huge_pages;
}

Expected<HugeBlock> allocate_reserved(std::size_t bytes) noexcept {
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB;
    void* result = attempt(OsCall::map_memory, MAP_FAILED,
                           [&] { return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0); });
    if (result == MAP_FAILED) return errno == ENOMEM ? Status::no_huge_pages : Status::not_supported;
    const MemoryBlock block{static_cast<std::byte*>(result), bytes};
    if (const auto filled = prefault(block); !filled) {
        [[maybe_unused]] const Status undone = unmap(block);
        return filled.status();
    }
    return HugeBlock{block, {PageKind::reserved, PageKind::reserved, huge_page_size(), bytes, Status::ok}};
}

Expected<MemoryBlock> allocate_committed(std::size_t bytes, bool want_huge, Status& advice) noexcept {
    const auto block = reserve({.bytes = bytes, .alignment = huge_page_size()});
    if (!block) return block.status();
    auto step = commit(*block);
    if (step && want_huge) advice = advise_huge(*block, true).status();
    if (step) step = prefault(*block);
    if (step) return block;
    [[maybe_unused]] const Status undone = unmap(*block);
    return step.status();
}

}  // namespace

std::size_t huge_page_size() noexcept {
    static std::atomic<std::size_t> known{0};
    const std::size_t size = known.load(std::memory_order_relaxed);
    if (size != 0) return size;
    std::array<char, 8192> buffer;
    const auto text = read_text_file("/proc/meminfo", buffer);
    const auto field = text ? find_field(*text, "Hugepagesize:") : text;
    const auto kib = field ? parse_number(*field) : field.status();
    known.store(static_cast<std::size_t>(kib.value_or(0U) * kKib), std::memory_order_relaxed);
    return known.load(std::memory_order_relaxed);
}

Expected<HugeBlock> allocate_huge(std::size_t bytes, PageKind asked) noexcept {
    if (bytes == 0) return Status::zero_size;
    const std::size_t unit = huge_page_size() != 0 ? huge_page_size() : page_size();
    const auto rounded = checked_align_up(bytes, unit);
    if (!rounded) return rounded.status();

    Status reason = Status::ok;
    if (asked == PageKind::reserved) {
        const auto given = allocate_reserved(*rounded);
        if (given) return given;
        reason = given.status();
    }
    Status advice = Status::ok;
    const auto block = allocate_committed(*rounded, asked != PageKind::normal, advice);
    if (!block) return block.status();
    HugePageReport report{
        .asked = asked, .given = PageKind::normal, .page_bytes = page_size(), .reason = reason};
    if (asked == PageKind::normal) return HugeBlock{*block, report};

    report.huge_bytes = huge_bytes_in(*block).value_or(std::size_t{0});
    if (report.huge_bytes != 0) {
        report.given = PageKind::transparent;
        report.page_bytes = huge_page_size();
    }
    if (report.reason == Status::ok && advice != Status::ok) report.reason = advice;
    if (report.reason == Status::ok && report.huge_bytes < *rounded) report.reason = why_not_transparent();
    return HugeBlock{*block, report};
}

Expected<void> release_huge(const HugeBlock& block) noexcept {
    const Status range = check_pages(block.block);
    return range == Status::ok ? unmap(block.block) : range;
}

Expected<void> advise_huge(MemoryBlock block, bool wanted) noexcept {
    const Status range = check_pages(block);
    if (range != Status::ok) return range;
    const int advice = wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
    if (attempt(OsCall::advise_memory, [&] { return ::madvise(block.data, block.size, advice); }) == 0)
        return {};
    if (errno == ENOMEM) return explain_no_memory(block);
    return errno == EINVAL ? Status::not_supported : status_of_error(errno);
}

Expected<std::size_t> huge_bytes_in(MemoryBlock block) noexcept {
    const Status range = check_pages(block);
    if (range != Status::ok) return range;
    const auto pagemap = open_pagemap();
    if (pagemap) return scan_huge_bytes(pagemap->get(), block);
    HugeByteCount count{.range = block};
    const auto read = for_each_line(
        "/proc/self/smaps",
        [](std::string_view line, void* context) {
            return static_cast<HugeByteCount*>(context)->visit(line);
        },
        &count);
    if (!read) return read.status();
    return count.total;
}

}  // namespace ouro::os
