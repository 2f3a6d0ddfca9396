#pragma once

#include "golden_scenes.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

// The fixed hashes of the golden scenes' ticks. ecs_write_golden_ticks writes them anew, after a decision.
namespace ouro::testing_support {

inline constexpr std::size_t kGoldenTicks = 1'000;
// What is written down of a tick's hash: enough to tell which tick differs first. All bits are in the fold.
[[nodiscard]] constexpr std::uint32_t golden_part(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash);
}
// Of the ticks 1 to kGoldenTicks.
[[nodiscard]] std::span<const std::uint32_t, kGoldenTicks> golden_ticks(std::size_t scene);

}  // namespace ouro::testing_support
