#include <ouro/streams/sim_pool.hpp>
#include <ouro/streams/verifier.hpp>

#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

constexpr std::array kSegments = {
    SegmentOptions{.name = "world", .bytes = 128 << 10},
    SegmentOptions{.name = "script", .bytes = 64 << 10, .kind = SegmentKind::process_bound},
};

struct Town {
    std::uint64_t gold;
    SimPool<std::uint64_t> creatures;
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
    EXPECT_EQ(findings[0].address, world_ + 5000);
    EXPECT_EQ(findings[0].owner.kind, OwnerKind::named);
    EXPECT_EQ(findings[0].owner.name, "sparks");
    EXPECT_EQ(finding_name(findings[0].kind), "undeclared write");
}

// The address, the segment and the owner, without being told of any of them.
TEST_F(VerifierTest, TheOwnerIsFoundInTheHeap) {
    auto heap = ImageHeap::create(ring_, "world", {.notes_blocks = true});
    ASSERT_TRUE(heap);
    const auto town = heap->make_root<Town>("town");
    const auto block = heap->allocate(700);
    ASSERT_TRUE(town && block);
    const auto wolf = heap->bind(heap->get(*town).creatures).create(3);
    ASSERT_TRUE(wolf);
    // What the heap keeps of itself may look like an address where a sanitizer has much of the memory.
    VerifyOptions options{.finds_nans = false, .finds_addresses = false};
    ASSERT_TRUE(verify(options).empty());

    auto& gold = const_cast<std::uint64_t&>(heap->get(*town).gold);
    gold = 0x0101'0101'0101'0101U;
    auto& creature = const_cast<std::uint64_t&>(*heap->bind(heap->get(*town).creatures).find(*wolf));
    creature = 4;
    std::memset(block->data + 16, 1, 4);
    const std::array sources = {owner_source("creatures", heap->get(*town).creatures)};
    std::map<std::string, const void*> told;
    options.sources = sources;
    for (const Finding& each : verify(options)) {
        EXPECT_EQ(each.kind, FindingKind::undeclared_write);
        EXPECT_EQ(each.segment, "world");
        std::array<char, 300> text;
        const std::string sentence(describe_finding(each, text));
        EXPECT_EQ(sentence.find("undeclared write: " + std::to_string(each.bytes) + " byte"), 0U);
        const std::string where = " (segment 'world', image offset " + std::to_string(each.offset) + "): ";
        const std::size_t at = sentence.find(where);
        ASSERT_NE(at, std::string::npos) << sentence;
        told[sentence.c_str() + at + where.size()] = each.address;
    }
    ASSERT_EQ(told.size(), 3U);
    EXPECT_EQ(told["byte 0 of root 'town' (" + std::to_string(sizeof(Town)) + " bytes)"], &gold);
    EXPECT_EQ(told["byte 16 of a block (704 bytes)"], block->data + 16);
    EXPECT_EQ(told["byte 8 of object 0 of 'creatures' (16 bytes)"], &creature);

    // What was freed belongs to nobody.
    heap->deallocate(*block);
    ASSERT_TRUE(ring_.commit());
    std::memset(block->data + 400, 1, 4);
    options.owner_of = [](void*, std::uint64_t) { return std::string_view(); };
    const auto findings = verify(options);
    ASSERT_FALSE(findings.empty());
    EXPECT_EQ(findings.back().owner.kind, OwnerKind::free_memory);
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
