#include <ouro/base/hash.hpp>
#include <ouro/base/random.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

namespace {

// Published values of XXH3 for the empty input.
TEST(Hash, MatchesThePublishedValues) {
    EXPECT_EQ(ouro::hash_bytes(nullptr, 0), 0x2d06800538d394c2U);
}

TEST(Hash, DependsOnEveryByteOnSizeAndOnSeed) {
    std::array<std::byte, 512> bytes{};
    const std::uint64_t plain = ouro::hash_bytes(bytes);
    EXPECT_NE(plain, ouro::hash_bytes(bytes, 1));
    EXPECT_NE(plain, ouro::hash_bytes(bytes.data(), bytes.size() - 1));
    for (std::byte& byte : bytes) {
        byte = std::byte{1};
        EXPECT_NE(plain, ouro::hash_bytes(bytes));
        byte = std::byte{0};
    }
    EXPECT_EQ(plain, ouro::hash_bytes(bytes));
}

// The kernels differ by instruction set; every path by length must agree with the golden values of all
// platforms.
TEST(Hash, OfEachLengthIsTheSameEverywhere) {
    std::array<std::byte, 4096> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(ouro::mix_bits(i));
    std::uint64_t all = 0;
    for (std::size_t size = 0; size <= bytes.size(); size += size < 300 ? 1 : 61) {
        all = ouro::combine_hash(all, ouro::hash_bytes(bytes.data(), size, size));
    }
    EXPECT_EQ(all, 7733709600100469260U);
}

TEST(Hash, MixIsABijectionOnASample) {
    EXPECT_EQ(ouro::mix_bits(0), 0U);
    EXPECT_NE(ouro::mix_bits(1), ouro::mix_bits(2));
    EXPECT_NE(ouro::combine_hash(ouro::combine_hash(0, 1), 2),
              ouro::combine_hash(ouro::combine_hash(0, 2), 1));
}

TEST(Hash, NamesHashAtCompileTime) {
    static_assert(ouro::hash_name("") == 0xcbf29ce484222325U);
    static_assert(ouro::hash_name("a") == 0xaf63dc4c8601ec8cU);
    static_assert(ouro::hash_name("Position") != ouro::hash_name("Velocity"));
    SUCCEED();
}

}  // namespace
