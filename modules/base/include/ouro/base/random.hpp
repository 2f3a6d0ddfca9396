#pragma once

#include <ouro/base/assert.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

// Random numbers for simulations: counter-based, so that the number belonging to (seed, stream, index) does
// not depend on how many were drawn before, by whom, or on which thread. The same bits on every platform.
namespace ouro {

using RandomBlock = std::array<std::uint32_t, 4>;

// The Philox 4x32 bijection with ten rounds: 128 bits of counter to 128 random bits, under a 64-bit key.
[[nodiscard]] constexpr RandomBlock philox(RandomBlock counter, std::uint64_t key) noexcept {
    auto key_low = static_cast<std::uint32_t>(key);
    auto key_high = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t even = std::uint64_t{0xD2511F53} * counter[0];
        const std::uint64_t odd = std::uint64_t{0xCD9E8D57} * counter[2];
        counter = {
            static_cast<std::uint32_t>(odd >> 32) ^ counter[1] ^ key_low, static_cast<std::uint32_t>(odd),
            static_cast<std::uint32_t>(even >> 32) ^ counter[3] ^ key_high, static_cast<std::uint32_t>(even)};
        key_low += 0x9E3779B9;
        key_high += 0xBB67AE85;
    }
    return counter;
}

// The 64 random bits at a place. Every (seed, stream, index) has its own; e.g. stream = entity, index = tick.
[[nodiscard]] constexpr std::uint64_t random_at(std::uint64_t seed, std::uint64_t stream,
                                                std::uint64_t index) noexcept {
    const RandomBlock block =
        philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)},
               seed);
    return std::uint64_t{block[1]} << 32 | block[0];
}

// A sequence of such numbers with its position. Plain data without padding: it may live in the state image,
// and is rolled back with it.
class Random {
public:
    constexpr Random() noexcept = default;
    explicit constexpr Random(std::uint64_t seed, std::uint64_t stream = 0) noexcept
        : seed_(seed), stream_(stream) {}

    [[nodiscard]] constexpr std::uint64_t seed() const noexcept { return seed_; }
    [[nodiscard]] constexpr std::uint64_t position() const noexcept { return position_; }

    constexpr std::uint64_t next() noexcept { return random_at(seed_, stream_, position_++); }

    // Uniform in [0, bound), without bias. Requires: bound is not zero.
    constexpr std::uint32_t below(std::uint32_t bound) noexcept {
        OURO_ASSERT(bound != 0, "there is no number below zero");
        // Multiply-high maps 2^32 values onto the bound; the few lowest fractions that would favour some
        // results are drawn again.
        const std::uint32_t unfair = (0U - bound) % bound;
        std::uint64_t scaled = 0;
        do {
            scaled = (next() >> 32) * bound;
        } while (static_cast<std::uint32_t>(scaled) < unfair);
        return static_cast<std::uint32_t>(scaled >> 32);
    }

    // Uniform in [low, high]. Requires: low <= high.
    constexpr std::int32_t between(std::int32_t low, std::int32_t high) noexcept {
        OURO_ASSERT(low <= high, "the range is empty");
        const std::uint32_t width = static_cast<std::uint32_t>(high) - static_cast<std::uint32_t>(low);
        const std::uint32_t step =
            width == 0xFFFFFFFF ? static_cast<std::uint32_t>(next() >> 32) : below(width + 1);
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(low) + step);
    }

    // Uniform in [0, 1), a multiple of 2^-53 (2^-24 for float).
    constexpr double unit_double() noexcept { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
    constexpr float unit_float() noexcept { return static_cast<float>(next() >> 40) * 0x1.0p-24F; }

    // True with the given probability; never for 0, always for 1.
    constexpr bool chance(double probability) noexcept { return unit_double() < probability; }

    // Requires: fewer than 2^32 items.
    template <class T>
    constexpr void shuffle(std::span<T> items) noexcept {
        for (std::size_t left = items.size(); left > 1; --left) {
            std::swap(items[left - 1], items[below(static_cast<std::uint32_t>(left))]);
        }
    }

private:
    std::uint64_t seed_ = 0;
    std::uint64_t stream_ = 0;
    std::uint64_t position_ = 0;
};

static_assert(sizeof(Random) == 24);

}  // namespace ouro
