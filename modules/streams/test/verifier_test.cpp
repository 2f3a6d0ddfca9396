#include <ouro/streams/verifier.hpp>

#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

constexpr std::array kSegments = {
    SegmentOptions{.name = "world", .bytes = 128 << 10},
    SegmentOptions{.name = "script", .bytes = 64 << 10, .kind = SegmentKind::process_bound},
};

class VerifierTest : public testing::Test {
protected:
    void SetUp() override {
        auto ring = StateRing::create({.segments = kSegments, .history_ticks = 8, .history_bytes = 8 << 20});
        ASSERT_TRUE(ring);
        ring_ = *std::move(ring);
        world_ = ring_.segment_block("world")->data;
        script_ = ring_.segment_block("script")->data;
    }

    template <class T>
    void put(std::byte* at, T value, bool declares) {
        std::memcpy(at, &value, sizeof(value));
        if (declares) {
            ASSERT_EQ(ring_.mark(at, sizeof(value)), Status::ok);
        }
    }

    std::vector<Finding> verify(const VerifyOptions& options = {}) {
        EXPECT_TRUE(ring_.commit());
        std::vector<Finding> findings;
        const auto count =
            verify_image(ring_, options, [&](const Finding& each) { findings.push_back(each); });
        EXPECT_TRUE(count);
        EXPECT_EQ(count.value_or(0), findings.size());
        return findings;
    }

    std::uint64_t offset_of(const std::byte* at) const {
        return static_cast<std::uint64_t>(at - ring_.image().data);
    }

    StateRing ring_;
    std::byte* world_ = nullptr;
    std::byte* script_ = nullptr;
};

TEST_F(VerifierTest, WhatWasDeclaredIsFine) {
    put(world_ + 100, 1.5, true);
    put(script_ + 4096, std::uint64_t{7}, true);
    EXPECT_TRUE(verify().empty());
}

TEST_F(VerifierTest, AWriteWithoutAMarkIsNamed) {
    put(world_ + 5000, std::uint32_t{0x01020304}, false);
    const auto findings =
        verify({.owner_of = [](void*, std::uint64_t) -> std::string_view { return "sparks"; }});
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].kind, FindingKind::undeclared_write);
    EXPECT_EQ(findings[0].offset, offset_of(world_ + 5000));
    EXPECT_EQ(findings[0].bytes, 4U);
    EXPECT_EQ(findings[0].segment, "world");
    EXPECT_EQ(findings[0].owner, "sparks");
    EXPECT_EQ(finding_name(findings[0].kind), "undeclared write");
}

TEST_F(VerifierTest, NansAreFoundInPortableSegments) {
    put(world_ + 104, std::numeric_limits<float>::quiet_NaN(), true);
    put(world_ + 512, -std::numeric_limits<double>::quiet_NaN(), true);
    put(script_, std::numeric_limits<double>::quiet_NaN(), true);
    const auto findings = verify();
    ASSERT_EQ(findings.size(), 2U);
    EXPECT_EQ(findings[0].offset, offset_of(world_ + 104));
    EXPECT_EQ(findings[0].bytes, 4U);
    EXPECT_EQ(findings[1].kind, FindingKind::not_a_number);
    EXPECT_EQ(findings[1].bytes, 8U);
    EXPECT_TRUE(verify({.finds_nans = false}).empty());
}

TEST_F(VerifierTest, AddressesAreFoundWhereTheyCanBeToldFromNumbers) {
    int local = 0;
    const std::array<const void*, 3> pointers = {world_ + 8, &local, &kSegments};
    for (std::size_t index = 0; index < pointers.size(); ++index)
        put(world_ + 64 + 16 * index, reinterpret_cast<std::uintptr_t>(pointers[index]), true);
    put(script_, reinterpret_cast<std::uintptr_t>(&local), true);
    const std::size_t expected = sizeof(void*) == 8 ? pointers.size() : 0;
    EXPECT_EQ(verify().size(), expected);
    EXPECT_TRUE(verify({.finds_addresses = false}).empty());
}

}  // namespace
}  // namespace ouro
