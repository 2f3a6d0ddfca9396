#include <ouro/base/hash.hpp>
#include <ouro/base/random.hpp>
#include <ouro/memory/collections/word_packing.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::Random;
using ouro::Status;
using Bytes = std::vector<std::byte>;

Bytes pack(const Bytes& values, std::size_t stride) {
    Bytes packed(ouro::packed_bound(values.size()));
    packed.resize(ouro::pack_values(values, stride, packed));
    return packed;
}

// From constant to random, by how many bits of a value change.
Bytes random_values(Random& random, std::size_t stride, std::size_t count) {
    Bytes values(stride * count);
    const std::uint32_t kind = random.below(4);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t row = i / stride;
        const auto byte = kind == 0   ? 0U
                          : kind == 1 ? static_cast<unsigned>(i % stride == 0 ? row : 3)
                          : kind == 2 ? (random.chance(0.05) ? random.below(256) : 0U)
                                      : random.below(256);
        values[i] = static_cast<std::byte>(byte);
    }
    return values;
}

TEST(WordPacking, ValuesComeBack) {
    for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed);
        const std::size_t stride = 1 + random.below(24);
        const Bytes values = random_values(random, stride, random.below(300));
        const Bytes packed = pack(values, stride);
        ASSERT_LE(packed.size(), ouro::packed_bound(values.size()));
        Bytes again(values.size());
        ASSERT_EQ(ouro::unpack_values(packed, stride, again), Status::ok);
        ASSERT_EQ(again, values);
        // Too many to end in the same word.
        again.resize(values.size() + 8 * stride);
        ASSERT_EQ(ouro::unpack_values(packed, stride, again), Status::corrupt_data);
    }
}

TEST(WordPacking, WhatRepeatsBecomesSmall) {
    std::vector<std::uint32_t> counters(1024);
    for (std::uint32_t i = 0; i < counters.size(); ++i)
        counters[i] = 5'000'000 + i;
    Bytes values(counters.size() * 4);
    std::memcpy(values.data(), counters.data(), values.size());
    EXPECT_LT(pack(values, 4).size(), values.size() / 3);
    EXPECT_LT(pack(Bytes(4096), 4).size(), 10U);
}

TEST(WordPacking, TheSameBytesOnEveryPlatform) {
    Random random(42);
    std::uint64_t hash = 0;
    for (int i = 0; i < 100; ++i) {
        const Bytes packed = pack(random_values(random, 12, 500), 12);
        hash = ouro::combine_hash(hash, ouro::hash_bytes(packed));
    }
    EXPECT_EQ(hash, 17655820012424658697U);
}

TEST(WordPacking, DamagedBytesAreToldAndHarmNothing) {
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed);
        const std::size_t stride = 1 + random.below(12);
        Bytes values = random_values(random, stride, 1 + random.below(200));
        Bytes packed = pack(values, stride);
        const std::uint32_t damages = 1 + random.below(4);
        for (std::uint32_t i = 0; i < damages; ++i) {
            const auto at = random.below(static_cast<std::uint32_t>(packed.size()));
            packed[at] = static_cast<std::byte>(random.below(256));
        }
        if (random.chance(0.3)) packed.resize(random.below(static_cast<std::uint32_t>(packed.size() + 1)));
        // Copied to exactly its size, so that a sanitizer sees every read outside.
        const Bytes exact(packed.begin(), packed.end());
        const Status status = ouro::unpack_values(exact, stride, values);
        ASSERT_TRUE(status == Status::ok || status == Status::corrupt_data);
    }
}

TEST(WordPacking, EachKindOfDamageIsTold) {
    Bytes values(64);
    const auto unpack = [&](std::initializer_list<unsigned> raw) {
        Bytes packed;
        for (const unsigned byte : raw)
            packed.push_back(static_cast<std::byte>(byte));
        return ouro::unpack_values(packed, 4, values);
    };
    EXPECT_EQ(unpack({1, 0, 8}), Status::ok);
    EXPECT_EQ(unpack({}), Status::corrupt_data);
    EXPECT_EQ(unpack({7, 0, 8}), Status::corrupt_data);
    EXPECT_EQ(unpack({0, 1, 2, 3}), Status::corrupt_data);
    EXPECT_EQ(unpack({1}), Status::corrupt_data);
    EXPECT_EQ(unpack({1, 0}), Status::corrupt_data);
    EXPECT_EQ(unpack({1, 0, 0}), Status::corrupt_data);
    EXPECT_EQ(unpack({1, 0, 7}), Status::corrupt_data);
    EXPECT_EQ(unpack({1, 0, 9}), Status::corrupt_data);
    EXPECT_EQ(unpack({1, 0, 8, 0}), Status::corrupt_data);
    EXPECT_EQ(unpack({1, 3, 1}), Status::corrupt_data);
    EXPECT_EQ(unpack({1, 3, 1, 2, 0, 7}), Status::ok);
}

}  // namespace
