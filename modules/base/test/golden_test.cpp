// The same bits everywhere: these values must come out of every compiler, optimisation level and platform. A
// change of one of them changes every recorded simulation and needs a decision record that says why.
#include "math_golden.hpp"

#include <ouro/base/hash.hpp>
#include <ouro/base/random.hpp>

#include <bit>
#include <cstdint>

#include <gtest/gtest.h>

namespace {

constexpr std::uint32_t kResults = 1'000'000;

// Every kind of draw in turn, from several streams.
std::uint64_t random_golden_hash() {
    std::uint64_t hash = 0;
    for (std::uint64_t stream = 0; stream < 10; ++stream) {
        ouro::Random random(0x0123456789abcdef, stream);
        for (std::uint32_t i = 0; i < kResults / 50; ++i) {
            hash = ouro::combine_hash(hash, random.next());
            hash = ouro::combine_hash(hash, random.below(i + 1));
            hash = ouro::combine_hash(hash, static_cast<std::uint32_t>(random.between(-1000, 1000)));
            hash = ouro::combine_hash(hash, std::bit_cast<std::uint64_t>(random.unit_double()));
            hash = ouro::combine_hash(hash, std::bit_cast<std::uint32_t>(random.unit_float()));
        }
    }
    return hash;
}

TEST(Golden, AMillionResultsOfTheMath) {
    EXPECT_EQ(math_golden_hash(), 0x6558c8d33872b5baU);
}

TEST(Golden, AMillionRandomNumbers) {
    EXPECT_EQ(random_golden_hash(), 0x7ebfd14deea4d1ceU);
}

}  // namespace
