#include "parking.hpp"

#include <gtest/gtest.h>

namespace ouro::detail {
namespace {

// News between the search and the sleep: who slept here would sleep for ever.
TEST(Parking, NobodySleepsThroughNews) {
    Parking parking;
    const std::uint64_t seen = parking.news();
    parking.tell(1);
    EXPECT_FALSE(parking.sleep(0, seen));
    EXPECT_EQ(parking.sleeper_count(), 0U);
    EXPECT_EQ(parking.wake_count(), 0U);
    EXPECT_TRUE(parking.is_sound(1));
}

}  // namespace
}  // namespace ouro::detail
