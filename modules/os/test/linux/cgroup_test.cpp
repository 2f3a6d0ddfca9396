#include "linux/cgroup.hpp"

#include <ouro/os/memory_pressure.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace {

using ouro::Status;
namespace os = ouro::os;
namespace fs = std::filesystem;

// Lays out the kernel's files in a folder of its own.
class Cgroup : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "ouro_cgroup_XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        root_ = pattern;
    }
    void TearDown() override { fs::remove_all(root_); }

    void file(const std::string& name, const std::string& text) const {
        fs::create_directories((root_ / name).parent_path());
        std::ofstream(root_ / name) << text;
    }
    [[nodiscard]] ouro::Expected<os::CgroupMemory> read() const {
        return os::read_cgroup_memory((root_ / "membership").c_str(), root_.c_str());
    }

    // A group's files, by its folder: "" is the root, "game/" one below.
    void group(const std::string& folder, const std::string& limit, const std::string& usage) const {
        file(folder + "memory.max", limit + "\n");
        file(folder + "memory.current", usage + "\n");
    }
    [[nodiscard]] ouro::Expected<os::MemoryStalls> stalls() const {
        return os::read_cgroup_stalls((root_ / "membership").c_str(), root_.c_str());
    }

    fs::path root_;
};

std::string stall_text(const std::string& some, const std::string& full = "0.00") {
    return "some avg10=" + some + " avg60=0.25 avg300=100.00 total=12345\nfull avg10=" + full +
           " avg60=0.00 avg300=0.00 total=0\n";
}

TEST_F(Cgroup, Version2TakesTheGroupWithTheLeastRoom) {
    file("membership", "0::/game/server\n");
    group("game/server/", "max", "1000");
    group("game/", "4096000", "2000");
    const auto memory = read();
    ASSERT_TRUE(memory);
    EXPECT_EQ(memory->version, 2U);
    EXPECT_EQ(memory->limit_bytes, 4096000U);
    EXPECT_EQ(memory->usage_bytes, 2000U);
    // A larger limit that neighbours have nearly filled counts before a smaller one with room.
    group("", "8000000", "7999000");
    EXPECT_EQ(read()->limit_bytes, 8000000U);
    EXPECT_EQ(read()->usage_bytes, 7999000U);
}

TEST_F(Cgroup, WhereTheGroupIsThrottledIsALimitToo) {
    file("membership", "0::/game\n");
    group("game/", "max", "1000");
    file("game/memory.high", "5000\n");
    ASSERT_TRUE(read());
    EXPECT_EQ(read()->limit_bytes, 5000U);
    file("game/memory.max", "4000\n");
    EXPECT_EQ(read()->limit_bytes, 4000U);
    file("game/memory.high", "max\n");
    EXPECT_EQ(read()->limit_bytes, 4000U);
    // One around it that throttles earlier.
    group("", "max", "1500");
    file("memory.high", "2000\n");
    EXPECT_EQ(read()->limit_bytes, 2000U);
    file("memory.high", "high\n");
    EXPECT_EQ(read().status(), Status::corrupt_data);
}

TEST_F(Cgroup, StallsAreTheOwnGroupsOrTheNearestThatTells) {
    EXPECT_EQ(stalls().status(), Status::not_supported);
    file("membership", "0::/game/server\n");
    EXPECT_EQ(stalls().status(), Status::not_supported);
    file("memory.pressure", stall_text("1.00"));
    ASSERT_TRUE(stalls());
    EXPECT_DOUBLE_EQ(stalls()->some.percent_10s, 1.0);
    file("game/memory.pressure", stall_text("2.00"));
    EXPECT_DOUBLE_EQ(stalls()->some.percent_10s, 2.0);
    file("game/server/memory.pressure", stall_text("3.00", "2.50"));
    EXPECT_DOUBLE_EQ(stalls()->some.percent_10s, 3.0);
    EXPECT_DOUBLE_EQ(stalls()->full.percent_10s, 2.5);
    file("game/server/memory.pressure", "some day\n");
    EXPECT_EQ(stalls().status(), Status::corrupt_data);
}

TEST_F(Cgroup, StallsAreFoundBesideVersion1) {
    file("membership", "4:memory:/game\n0::/game\n");
    file("unified/game/memory.pressure", stall_text("4.00"));
    ASSERT_TRUE(stalls());
    EXPECT_DOUBLE_EQ(stalls()->some.percent_10s, 4.0);
}

TEST_F(Cgroup, WhatCanBeReclaimedIsToldAndCountsAsRoom) {
    file("membership", "0::/game\n");
    group("game/", "1000000", "999000");
    file("game/memory.stat", "anon 99000\nfile 900000\ninactive_anon 1\ninactive_file 800000\n");
    group("", "1000000", "500000");
    const auto memory = read();
    ASSERT_TRUE(memory);
    EXPECT_EQ(memory->usage_bytes, 500000U);
    EXPECT_EQ(memory->reclaimable_bytes, 0U);
    // More than all of it makes no sense.
    file("memory.current", "100000\n");
    file("game/memory.stat", "inactive_file 99999999\n");
    file("memory.stat", "inactive_file nonsense\n");
    EXPECT_EQ(read()->usage_bytes, 100000U);
    file("memory.max", "max\n");
    EXPECT_EQ(read()->usage_bytes, 999000U);
    EXPECT_EQ(read()->reclaimable_bytes, 999000U);
}

TEST_F(Cgroup, Version2WithoutLimit) {
    file("membership", "0::/\n");
    group("", "max", "5");
    ASSERT_TRUE(read());
    EXPECT_EQ(read()->limit_bytes, os::kNoLimit);
}

TEST_F(Cgroup, Version1IsReadWhereItGovernsMemory) {
    file("membership", "3:cpu,cpuacct:/a\n2:memory:/box\n0::/\n");
    file("memory/box/memory.limit_in_bytes", "1048576\n");
    file("memory/box/memory.usage_in_bytes", "4096\n");
    file("memory/memory.limit_in_bytes", "9223372036854771712\n");
    const auto memory = read();
    ASSERT_TRUE(memory);
    EXPECT_EQ(memory->version, 1U);
    EXPECT_EQ(memory->limit_bytes, 1048576U);
    EXPECT_EQ(memory->usage_bytes, 4096U);
}

TEST_F(Cgroup, Version1TellsWhatCanBeReclaimedInTheWholeTree) {
    file("membership", "4:memory:/game\n");
    file("memory/game/memory.limit_in_bytes", "5000\n");
    file("memory/game/memory.usage_in_bytes", "3000\n");
    file("memory/game/memory.stat", "inactive_file 1\ntotal_inactive_file 1200\n");
    EXPECT_EQ(read()->reclaimable_bytes, 1200U);
}

// In a container, the path named in the list exists outside only; the mount shows the group itself.
TEST_F(Cgroup, AnInvisiblePathFallsBackToTheMount) {
    file("membership", "0::/outside/only\n");
    group("", "777", "7");
    ASSERT_TRUE(read());
    EXPECT_EQ(read()->limit_bytes, 777U);
}

TEST_F(Cgroup, DamageAndAbsenceAreTold) {
    EXPECT_EQ(read().status(), Status::not_supported);
    file("membership", "0::/\n");
    EXPECT_EQ(read().status(), Status::not_supported);
    group("", "lots", "5");
    EXPECT_EQ(read().status(), Status::corrupt_data);
    file("membership", "::::\n\n:");
    EXPECT_EQ(read().status(), Status::not_supported);
    file("membership", "no colons at all");
    EXPECT_EQ(read().status(), Status::not_supported);
}

TEST(MemoryStalls, AreParsed) {
    const auto stalls = os::parse_stalls(stall_text("1.50"));
    ASSERT_TRUE(stalls);
    EXPECT_DOUBLE_EQ(stalls->some.percent_10s, 1.5);
    EXPECT_DOUBLE_EQ(stalls->some.percent_60s, 0.25);
    EXPECT_DOUBLE_EQ(stalls->some.percent_300s, 100.0);
    EXPECT_EQ(stalls->some.total_us, 12345U);
    EXPECT_EQ(stalls->full.total_us, 0U);
}

TEST(MemoryStalls, DamageIsTold) {
    EXPECT_EQ(os::parse_stalls("").status(), Status::corrupt_data);
    EXPECT_EQ(os::parse_stalls("some avg10=1\n").status(), Status::corrupt_data);
    for (const char* share : {"x", "101", "-1", "nan"})
        EXPECT_EQ(os::parse_stalls(stall_text(share)).status(), Status::corrupt_data) << share;
}

TEST(MemoryPressure, TheRealSourcesAnswerOrSayWhyNot) {
    const auto memory = os::system_memory();
    ASSERT_TRUE(memory);
    EXPECT_GT(memory->total_bytes, 0U);
    const auto group = os::cgroup_memory();
    EXPECT_TRUE(group || group.status() == Status::not_supported);
    const auto stalls = os::memory_stalls();
    EXPECT_TRUE(stalls || stalls.status() == Status::not_supported);
}

}  // namespace
