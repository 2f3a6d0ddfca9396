// That a setting of the program reaches the profiler.
#include <ouro/memory/memory_config.hpp>
#include <ouro/observe/profiler.hpp>

#include <gtest/gtest.h>

namespace ouro {
namespace {

TEST(ProfilerConfig, StartsItOrLeavesIt) {
    MemoryConfig config;
    EXPECT_TRUE(start_configured_profiler(config));
    EXPECT_FALSE(profiler_state().is_running);
    ASSERT_TRUE(parse_config("profile_sampling_bytes=3K", config));
    EXPECT_TRUE(start_configured_profiler(config));
    EXPECT_TRUE(profiler_state().is_running);
    EXPECT_EQ(profiler_state().mean_bytes, std::size_t{3} << 10);
    EXPECT_EQ(start_configured_profiler(config).status(), Status::busy);
    stop_profiler();
}

}  // namespace
}  // namespace ouro
