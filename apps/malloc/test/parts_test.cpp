// The parts of the library that stand on their own: its settings, its text, and its mappings.
#include "mapped_blocks.hpp"
#include "settings.hpp"
#include "text_output.hpp"

#include <ouro/base/align.hpp>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heap = ouro::process_heap;

namespace {

TEST(MallocSettings, WordsAreUnderstood) {
    heap::Settings settings;
    EXPECT_TRUE(
        heap::apply_settings("stats=json,purge=5M,,idle=20,background=1,stats_signal=USR2,", settings));
    EXPECT_EQ(settings.report_at_exit, heap::ReportFormat::json);
    EXPECT_EQ(settings.purge_bytes, std::size_t{5} << 20);
    EXPECT_EQ(settings.idle_ms, 20U);
    EXPECT_TRUE(settings.background);
    EXPECT_EQ(settings.report_signal, SIGUSR2);
    EXPECT_TRUE(heap::apply_settings("stats,purge=3K,background=0,stats_signal=USR1", settings));
    EXPECT_EQ(settings.report_at_exit, heap::ReportFormat::text);
    EXPECT_EQ(settings.purge_bytes, std::size_t{3} << 10);
    EXPECT_FALSE(settings.background);
    EXPECT_EQ(settings.report_signal, SIGUSR1);
    EXPECT_EQ(settings.huge_from_bytes, ~std::size_t{0});
    EXPECT_TRUE(heap::apply_settings("huge=1M", settings));
    EXPECT_EQ(settings.huge_from_bytes, std::size_t{1} << 20);
    EXPECT_TRUE(heap::apply_settings("huge=off", settings));
    EXPECT_EQ(settings.huge_from_bytes, ~std::size_t{0});
    EXPECT_TRUE(heap::apply_settings("purge=2G", settings));
    EXPECT_EQ(settings.purge_bytes, std::size_t{2} << 30);
    EXPECT_TRUE(heap::apply_settings("purge=0", settings));
    EXPECT_EQ(settings.purge_bytes, 0U);
    EXPECT_TRUE(heap::apply_settings("guard=1000,guard_slots=16384", settings));
    EXPECT_EQ(settings.guard_every, 1000U);
    EXPECT_EQ(settings.guard_slots, 16384U);
    EXPECT_TRUE(heap::apply_settings("profile=/tmp/%p.pb,profile_bytes=64K", settings));
    EXPECT_STREQ(settings.profile_file, "/tmp/%p.pb");
    EXPECT_EQ(settings.profile_bytes, std::size_t{64} << 10);
    EXPECT_TRUE(heap::apply_settings("profile=x,profile_signal=USR2", settings));
    EXPECT_STREQ(settings.profile_file, "x");
    EXPECT_EQ(settings.profile_signal, SIGUSR2);
}

TEST(MallocSettings, OtherWordsAreRefusedAndChangeNothing) {
    for (const char* const words : {"nonsense",
                                    "purge",
                                    "purge=",
                                    "purge=M",
                                    "purge=-1",
                                    "purge=1.5M",
                                    "purge=12345678901",
                                    "idle=",
                                    "idle=1s",
                                    "background=yes",
                                    "stats=xml",
                                    "stats_signal=KILL",
                                    "Stats",
                                    " stats",
                                    "guard=",
                                    "guard=x",
                                    "guard_slots=0",
                                    "guard_slots=16385",
                                    "profile",
                                    "profile=",
                                    "profile_signal=HUP",
                                    "profile_bytes=0",
                                    "profile_bytes=5G"}) {
        SCOPED_TRACE(words);
        heap::Settings settings;
        testing::internal::CaptureStderr();
        EXPECT_FALSE(heap::apply_settings(words, settings));
        const std::string complaint = testing::internal::GetCapturedStderr();
        EXPECT_NE(complaint.find(std::string("'") + words + "'"), std::string::npos) << complaint;
        EXPECT_NE(complaint.find("help"), std::string::npos);
        EXPECT_EQ(settings.purge_bytes, heap::Settings{}.purge_bytes);
        EXPECT_EQ(settings.report_at_exit, heap::ReportFormat::none);
        EXPECT_EQ(settings.guard_slots, heap::Settings{}.guard_slots);
        EXPECT_STREQ(settings.profile_file, "");
        EXPECT_EQ(settings.profile_bytes, heap::Settings{}.profile_bytes);
    }
    const std::string long_name = std::string("profile=").append(heap::kMostProfileName + 1, 'x');
    heap::Settings settings;
    EXPECT_FALSE(heap::apply_settings(long_name.c_str(), settings));
    EXPECT_STREQ(settings.profile_file, "");
}

TEST(MallocSettings, AWrongWordDoesNotSpoilTheOthers) {
    heap::Settings settings;
    EXPECT_FALSE(heap::apply_settings("nonsense,idle=5", settings));
    EXPECT_EQ(settings.idle_ms, 5U);
}

TEST(MallocSettings, HelpIsForgottenAndTheOtherWordsStay) {
    for (const auto& [before, after] : {std::pair{"help", ",,,,"},
                                        {"stats,help", "stats,,,,,"},
                                        {"help,idle=5,help", ",,,,,idle=5,,,,,"},
                                        {"helpful,guard=1", "helpful,guard=1"},
                                        {"", ""}}) {
        std::string words = before;
        heap::forget_help(words.data());
        EXPECT_EQ(words, after);
        if (words.find("helpful") != std::string::npos) continue;
        heap::Settings settings;
        testing::internal::CaptureStderr();
        EXPECT_TRUE(heap::apply_settings(words.c_str(), settings));
        EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    }
}

TEST(MallocText, NumbersAndBytes) {
    const auto bytes = [](std::uint64_t value) {
        heap::TextBuffer text;
        return std::string(text.add_bytes(value).data());
    };
    EXPECT_EQ(bytes(0), "0 B");
    EXPECT_EQ(bytes(1023), "1023 B");
    EXPECT_EQ(bytes(1536), "1.5 KiB");
    EXPECT_EQ(bytes(std::uint64_t{3} << 20), "3.0 MiB");
    EXPECT_EQ(bytes(std::uint64_t{256} << 30), "256.0 GiB");
    EXPECT_EQ(bytes(UINT64_MAX), "16777215.9 TiB");
    heap::TextBuffer text;
    text.add("a\n").add("b").pad_to(4).add_number(UINT64_MAX);
    EXPECT_STREQ(text.data(), "a\nb   18446744073709551615");
}

TEST(MallocText, WhatDoesNotFitIsLeftOut) {
    heap::TextBuffer text;
    for (int count = 0; count < 1000; ++count)
        text.add("0123456789");
    EXPECT_LT(text.length(), 10'000U);
    EXPECT_EQ(text.data()[text.length()], '\0');
    text.pad_to(20'000);
}

TEST(MallocMappings, CountsAreExact) {
    const heap::MappedTotals before = heap::mapped_totals();
    void* const block = heap::map_block(100'000, 16);
    ASSERT_NE(block, nullptr);
    const heap::MappedTotals during = heap::mapped_totals();
    EXPECT_EQ(during.blocks, before.blocks + 1);
    EXPECT_EQ(during.allocations, before.allocations + 1);
    EXPECT_GE(during.bytes - before.bytes, 100'000U);
    EXPECT_LT(during.bytes - before.bytes, 100'000U + 2 * 4096);
    EXPECT_GE(during.peak_bytes, during.bytes);
    heap::unmap_block(block);
    EXPECT_EQ(heap::mapped_totals().blocks, before.blocks);
    EXPECT_EQ(heap::mapped_totals().bytes, before.bytes);
    EXPECT_GE(heap::mapped_totals().peak_bytes, during.bytes);
}

TEST(MallocMappings, TheyAreAlignedAndZero) {
    for (std::size_t alignment = 16; alignment <= (std::size_t{8} << 20); alignment *= 2) {
        SCOPED_TRACE(alignment);
        auto* const block = static_cast<unsigned char*>(heap::map_block(5000, alignment));
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0U);
        EXPECT_GE(heap::mapped_size(block), 5000U);
        for (std::size_t at = 0; at < heap::mapped_size(block); ++at)
            ASSERT_EQ(block[at], 0);
        heap::unmap_block(block);
    }
}

TEST(MallocMappings, GrowAndShrinkKeepTheBytes) {
    const heap::MappedTotals before = heap::mapped_totals();
    auto* block = static_cast<unsigned char*>(heap::map_block(std::size_t{1} << 20, 16));
    // Stands behind it or not: in the way or not, the bytes come along.
    void* const neighbour = heap::map_block(std::size_t{1} << 20, 16);
    std::memset(block, 0x77, std::size_t{1} << 20);
    for (const std::size_t size : {std::size_t{9} << 20, std::size_t{3} << 20, std::size_t{64} << 20}) {
        SCOPED_TRACE(size);
        block = static_cast<unsigned char*>(heap::remap_block(block, size));
        ASSERT_NE(block, nullptr);
        EXPECT_GE(heap::mapped_size(block), size);
        // One that grows has room for a quarter more.
        const std::size_t room = size == (std::size_t{3} << 20) ? 0 : size / 4;
        EXPECT_LT(heap::mapped_size(block), size + room + 2 * 4096);
        for (std::size_t at = 0; at < (std::size_t{1} << 20); ++at)
            ASSERT_EQ(block[at], 0x77) << at;
        for (std::size_t at = std::size_t{1} << 20; at < size; at += 4096)
            ASSERT_EQ(block[at], 0) << at;
    }
    // The size is the same in whole pages: the block stays.
    EXPECT_EQ(heap::remap_block(block, (std::size_t{64} << 20) - 1), block);
    heap::unmap_block(neighbour);
    heap::unmap_block(block);
    EXPECT_EQ(heap::mapped_totals().bytes, before.bytes);
}

TEST(MallocMappings, ABlockThatCannotGrowStays) {
    auto* const block = static_cast<unsigned char*>(heap::map_block(5000, 16));
    ASSERT_NE(block, nullptr);
    block[4999] = 9;
    const heap::MappedTotals before = heap::mapped_totals();
    EXPECT_EQ(heap::remap_block(block, SIZE_MAX), nullptr);
    EXPECT_EQ(heap::remap_block(block, SIZE_MAX / 4), nullptr);
    EXPECT_EQ(heap::map_block(SIZE_MAX, 16), nullptr);
    EXPECT_EQ(heap::map_block(SIZE_MAX / 4, 16), nullptr);
    EXPECT_EQ(heap::mapped_totals().bytes, before.bytes);
    EXPECT_EQ(block[4999], 9);
    heap::unmap_block(block);
}

TEST(MallocMappingsDeathTest, WhatIsNoBlockIsNoticed) {
    auto* const block = static_cast<unsigned char*>(heap::map_block(5000, 16));
    ASSERT_NE(block, nullptr);
    EXPECT_DEATH(heap::unmap_block(block + 64),
                 "free of what malloc did not return.*: 0x[0-9a-f]+ in 'malloc'");
    EXPECT_DEATH(heap::unmap_block(block + 8), "free of what malloc did not return");
    heap::unmap_block(block);
}

// As at the limit of mappings, where the middle of one cannot be unmapped.
bool refuse_unmapping() {
    std::array filter = {
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_munmap, 0, 1),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOMEM),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Ends with what is wrong, or zero.
[[noreturn]] void free_without_unmapping() {
    constexpr std::size_t kPage = 4096;
    auto* const block = static_cast<std::byte*>(heap::map_block(16 * kPage, 16));
    std::memset(block, 1, 16 * kPage);
    auto* const page =
        reinterpret_cast<std::byte*>(ouro::align_up(reinterpret_cast<std::uintptr_t>(block), kPage));
    unsigned char is_resident = 0;
    if (::mincore(page, kPage, &is_resident) != 0 || is_resident % 2 == 0) ::_exit(1);
    if (!refuse_unmapping()) ::_exit(2);
    heap::unmap_block(block);
    if (::mincore(page, kPage, &is_resident) != 0) ::_exit(3);
    ::_exit(is_resident % 2 == 0 ? 0 : 4);
}

TEST(MallocMappingsDeathTest, WhatCannotBeUnmappedLosesItsMemory) {
    EXPECT_EXIT(free_without_unmapping(), testing::ExitedWithCode(0), "");
}

}  // namespace
