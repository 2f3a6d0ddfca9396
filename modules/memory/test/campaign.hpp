#pragma once

#include "environment.hpp"

#include <ouro/base/random.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

// What the campaigns share: a slice of a second or so by default, many times more with OURO_TEST_LONG. A
// failure names the seed of its round; OURO_TEST_SEED=<seed> makes that round the first.
namespace ouro::testing_support {

[[nodiscard]] inline std::uint64_t first_seed() {
    std::uint64_t seed = 0;
    const char* digits = detail::environment_value("OURO_TEST_SEED");
    for (; digits != nullptr && *digits >= '0' && *digits <= '9'; ++digits)
        seed = seed * 10 + static_cast<std::uint64_t>(*digits - '0');
    return seed == 0 ? 1 : seed;
}

// What one of so many cases does of the whole.
[[nodiscard]] inline std::uint64_t share_of_operations(std::uint64_t slice, std::uint64_t campaign,
                                                       std::uint64_t cases) {
    const bool is_long = detail::environment_value("OURO_TEST_LONG") != nullptr;
    return ((is_long ? campaign : slice) + cases - 1) / cases;
}

inline constexpr std::size_t kKibibyte = 1024;

struct RoundResult {
    std::uint64_t operations = 0;
    std::uint64_t refusals = 0;
};

// The seeds of a case and what it has to do in all, and in a round at most.
struct CampaignCase {
    std::uint64_t first_seed = 1;
    std::uint64_t seed_step = 1;
    std::uint64_t operations = 0;
    std::uint64_t round_operations = 0;
};

// Rounds until the operations of the case are done: run_round(composition, seed, operations), each with the
// composition that text_for(seed) names.
template <class TextFor, class RunRound>
void run_rounds(const CampaignCase& all, TextFor text_for, RunRound run_round) {
    RoundResult sum;
    std::uint64_t rounds = 0;
    for (std::uint64_t seed = all.first_seed; sum.operations < all.operations;
         seed += all.seed_step, ++rounds) {
        const std::string text = text_for(seed);
        SCOPED_TRACE(text + ", OURO_TEST_SEED=" + std::to_string(seed));
        const RoundResult done =
            run_round(text, seed, std::min(all.round_operations, all.operations - sum.operations));
        sum.operations += done.operations;
        sum.refusals += done.refusals;
        if (testing::Test::HasFailure()) return;
    }
    std::printf("%llu operations in %llu rounds, %llu refused\n",
                static_cast<unsigned long long>(sum.operations), static_cast<unsigned long long>(rounds),
                static_cast<unsigned long long>(sum.refusals));
}

template <class T, std::size_t kCount>
[[nodiscard]] T one_of(Random& random, const std::array<T, kCount>& choices) {
    return choices[random.below(kCount)];
}

}  // namespace ouro::testing_support
