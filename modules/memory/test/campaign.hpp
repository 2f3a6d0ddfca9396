#pragma once

#include "environment.hpp"

#include <ouro/base/random.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

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

template <class T, std::size_t kCount>
[[nodiscard]] T one_of(Random& random, const std::array<T, kCount>& choices) {
    return choices[random.below(kCount)];
}

}  // namespace ouro::testing_support
