#include "page_packing.hpp"

#include <ouro/base/random.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ouro::detail {
namespace {

using Page = std::array<std::byte, kStatePageBytes>;

Page random_page(Random& random) {
    Page page;
    for (std::byte& byte : page)
        byte = static_cast<std::byte>(random.below(256));
    return page;
}

std::vector<std::byte> packed(const Page& page, const std::byte* other) {
    std::vector<std::byte> bytes(kMaxPackedBytes);
    bytes.resize(pack_difference(page.data(), other, bytes.data()));
    return bytes;
}

void expect_round_trip(const Page& page, const Page& other) {
    const std::vector<std::byte> bytes = packed(page, other.data());
    Page result = other;
    ASSERT_TRUE(apply_difference(bytes, result.data()));
    ASSERT_TRUE(result == page);
    // The other way round it is the same.
    ASSERT_TRUE(apply_difference(bytes, result.data()));
    ASSERT_TRUE(result == other);
}

TEST(PagePacking, EqualPagesTakeNothing) {
    Random random(1);
    const Page page = random_page(random);
    EXPECT_TRUE(packed(page, page.data()).empty());
    EXPECT_TRUE(packed(Page{}, nullptr).empty());
    expect_round_trip(page, page);
}

// From no byte that differs to all of them.
TEST(PagePacking, EverySizeOfDifferenceComesBack) {
    Random random(2);
    const Page other = random_page(random);
    Page page = other;
    std::size_t longest = 0;
    for (std::size_t count = 0; count < kStatePageBytes; ++count) {
        SCOPED_TRACE(std::to_string(count) + " bytes differ");
        page[(count * 2731) % kStatePageBytes] ^= std::byte{0x55};
        expect_round_trip(page, other);
        longest = std::max(longest, packed(page, other.data()).size());
        if (HasFatalFailure()) return;
    }
    EXPECT_EQ(longest, kMaxPackedBytes);
}

TEST(PagePacking, AFewBytesTakeFewBytes) {
    Page page{};
    page[100] = std::byte{1};
    page[4000] = std::byte{2};
    EXPECT_LE(packed(page, nullptr).size(), 16U);
}

TEST(PagePacking, RandomDifferencesComeBack) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed);
        const Page other = random_page(random);
        Page page = other;
        for (std::uint32_t runs = random.below(40); runs != 0; --runs) {
            const std::uint32_t length = 1 + random.below(random.below(5) == 0 ? 1000 : 12);
            const std::uint32_t at = random.below(static_cast<std::uint32_t>(kStatePageBytes) - length);
            for (std::uint32_t index = 0; index < length; ++index)
                page[at + index] = static_cast<std::byte>(random.below(256));
        }
        expect_round_trip(page, other);
        if (HasFatalFailure()) return;
    }
}

// The bytes are part of the format of files too.
TEST(PagePacking, TheBytesAreTheSameEverywhere) {
    Page page{};
    page[0] = std::byte{7};
    page[9] = std::byte{8};
    page[64 * 63 + 8] = std::byte{9};
    const std::vector<std::byte> bytes = packed(page, nullptr);
    const std::array wanted = {1, 0, 0, 0, 0, 0, 0, 0x80, 3, 1, 7, 2, 8, 2, 1, 9};
    ASSERT_EQ(bytes.size(), wanted.size());
    for (std::size_t index = 0; index < wanted.size(); ++index)
        EXPECT_EQ(std::to_integer<int>(bytes[index]), wanted[index]) << index;
}

// Whatever the bytes are: no access outside, which the sanitizers would see; and what is too short or too
// long is refused.
TEST(PagePacking, DamagedBytesAreRefused) {
    Random random(5);
    const Page page = random_page(random);
    Page half{};
    std::copy_n(page.begin(), kStatePageBytes / 3, half.begin());
    const std::vector<std::byte> good = packed(half, nullptr);
    ASSERT_LT(good.size(), kMaxPackedBytes);
    for (std::size_t length = 1; length < good.size(); ++length) {
        const std::vector<std::byte> cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length));
        Page result{};
        EXPECT_FALSE(apply_difference(cut, result.data())) << length;
    }
    std::vector<std::byte> longer = good;
    longer.push_back(std::byte{1});
    Page result{};
    EXPECT_FALSE(apply_difference(longer, result.data()));
    for (int times = 0; times < 2000; ++times) {
        std::vector<std::byte> damaged = good;
        for (std::uint32_t count = 1 + random.below(4); count != 0; --count)
            damaged[random.below(static_cast<std::uint32_t>(damaged.size()))] =
                static_cast<std::byte>(random.below(256));
        (void)apply_difference(damaged, result.data());
    }
}

TEST(PagePacking, SqueezingComesBackOrIsNotDone) {
    Random random(6);
    std::vector<std::byte> repeating(3000);
    for (std::size_t index = 0; index < repeating.size(); ++index)
        repeating[index] = static_cast<std::byte>(index % 23);
    std::vector<std::byte> squeezed(repeating.size());
    const std::size_t size = squeeze(repeating, squeezed.data());
    if (size != 0) {
        ASSERT_LT(size, repeating.size());
        squeezed.resize(size);
        std::vector<std::byte> again(repeating.size());
        EXPECT_TRUE(unsqueeze(squeezed, again));
        EXPECT_TRUE(again == repeating);
        squeezed.pop_back();
        EXPECT_FALSE(unsqueeze(squeezed, again));
        for (int times = 0; times < 2000; ++times) {
            std::vector<std::byte> damaged = squeezed;
            damaged[random.below(static_cast<std::uint32_t>(damaged.size()))] =
                static_cast<std::byte>(random.below(256));
            (void)unsqueeze(damaged, again);
        }
    }
    const Page noise = random_page(random);
    std::vector<std::byte> room(noise.size());
    EXPECT_EQ(squeeze(noise, room.data()), 0U);
}

}  // namespace
}  // namespace ouro::detail
