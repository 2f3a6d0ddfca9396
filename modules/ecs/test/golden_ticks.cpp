#include "golden_ticks.hpp"

#include <array>

namespace ouro::testing_support {
namespace {

using GoldenTicks = std::array<std::uint32_t, kGoldenTicks>;

// clang-format off
constexpr GoldenTicks kFlock = {
#include "golden_ticks/flock.inc"
};
constexpr GoldenTicks kFountain = {
#include "golden_ticks/fountain.inc"
};
constexpr GoldenTicks kEpidemic = {
#include "golden_ticks/epidemic.inc"
};
constexpr GoldenTicks kFire = {
#include "golden_ticks/fire.inc"
};
constexpr GoldenTicks kMarket = {
#include "golden_ticks/market.inc"
};
constexpr GoldenTicks kCourier = {
#include "golden_ticks/courier.inc"
};
// clang-format on

constexpr std::array<const GoldenTicks*, kGoldenScenes> kScenes = {&kFlock, &kFountain, &kEpidemic,
                                                                   &kFire,  &kMarket,   &kCourier};

}  // namespace

std::span<const std::uint32_t, kGoldenTicks> golden_ticks(std::size_t scene) {
    return *kScenes[scene];
}

}  // namespace ouro::testing_support
