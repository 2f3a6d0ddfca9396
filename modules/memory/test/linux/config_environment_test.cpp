#include <ouro/memory/memory_config.hpp>

#include <cstdlib>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryConfig;
using ouro::Status;

TEST(ConfigEnvironment, IsReadWhenItIsSet) {
    MemoryConfig config;
    ASSERT_EQ(::unsetenv("OURO_MEMORY_TEST"), 0);
    EXPECT_TRUE(read_config_from_environment(config, nullptr, "OURO_MEMORY_TEST"));
    EXPECT_EQ(config, MemoryConfig{});
    ASSERT_EQ(::setenv("OURO_MEMORY_TEST", "guard_sampling=7", 1), 0);
    EXPECT_TRUE(read_config_from_environment(config, nullptr, "OURO_MEMORY_TEST"));
    EXPECT_EQ(config.guard_sampling, 7U);
    ASSERT_EQ(::setenv("OURO_MEMORY_TEST", "guard_sampling=soon", 1), 0);
    EXPECT_EQ(read_config_from_environment(config, nullptr, "OURO_MEMORY_TEST").status(),
              Status::bad_argument);
    EXPECT_EQ(config.guard_sampling, 7U);
    ASSERT_EQ(::unsetenv("OURO_MEMORY_TEST"), 0);
}

}  // namespace
