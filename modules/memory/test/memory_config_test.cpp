#include <ouro/memory/memory_config.hpp>

#include <array>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace {

using ouro::ConfigProblem;
using ouro::HugePagePolicy;
using ouro::MemoryConfig;
using ouro::NumaPolicy;
using ouro::parse_config;
using ouro::Status;

std::string text_of(const ConfigProblem& problem) {
    std::array<char, 512> text{};
    EXPECT_LT(describe_problem(problem, text), text.size());
    return text.data();
}

TEST(MemoryConfig, TheDefaultsAreValid) {
    EXPECT_TRUE(validate(MemoryConfig{}));
}

TEST(MemoryConfig, ReadsEveryKey) {
    MemoryConfig config;
    ASSERT_TRUE(
        parse_config("heap_max_bytes=1024M, purge_threshold_bytes=2m;system_cache_bytes=8M\n"
                     "largest_small_bytes=16K "
                     "# half of what the machine has\n"
                     "budget_bytes=2G numa=local\tguard_sampling=5000 # rarely\r\n"
                     "huge_pages=reserved profile_sampling_bytes=512K heap_huge_pages_from_bytes=32M",
                     config));
    EXPECT_EQ(config.heap_max_bytes, std::size_t{1} << 30);
    EXPECT_EQ(config.purge_threshold_bytes, std::size_t{2} << 20);
    EXPECT_EQ(config.system_cache_bytes, std::size_t{8} << 20);
    EXPECT_EQ(config.largest_small_bytes, std::size_t{16} << 10);
    EXPECT_EQ(config.budget_bytes, std::size_t{2} << 30);
    EXPECT_EQ(config.numa, NumaPolicy::local);
    EXPECT_EQ(config.guard_sampling, 5000U);
    EXPECT_EQ(config.profile_sampling_bytes, std::size_t{512} << 10);
    EXPECT_EQ(config.huge_pages, HugePagePolicy::reserved);
    EXPECT_EQ(config.heap_huge_pages_from_bytes, std::size_t{32} << 20);
}

TEST(MemoryConfig, NothingIsNoChange) {
    MemoryConfig config;
    EXPECT_TRUE(parse_config("", config));
    EXPECT_TRUE(parse_config(" ,;\n# only a comment", config));
    EXPECT_EQ(config, MemoryConfig{});
}

struct Mistake {
    const char* text;
    Status status;
    const char* message;
};

TEST(MemoryConfig, MistakesAreNamedAndChangeNothing) {
    const Mistake mistakes[] = {
        {"numa=far", Status::bad_argument, "numa cannot be 'far'; it must be off or local"},
        {"numa=", Status::bad_argument, "numa must be off or local"},
        {"numa", Status::bad_argument, "numa must be off or local"},
        {"guard_sampling=-1", Status::bad_argument,
         "guard_sampling cannot be '-1'; it must be a number from 0 to 1000000000"},
        {"guard_sampling=1k", Status::bad_argument,
         "guard_sampling cannot be '1k'; it must be a number from 0 to 1000000000"},
        {"system_cache_bytes=K", Status::bad_argument,
         "system_cache_bytes cannot be 'K'; it must be a size from 0 to 1G"},
        {"heap_max_bytes=255", Status::out_of_range,
         "heap_max_bytes cannot be '255'; it must be a size from 1M"},
        {"system_cache_bytes=99999999999999999999999", Status::out_of_range,
         "system_cache_bytes cannot be '99999999999999999999999'; it must be a size from 0 to 1G"},
        {"purge_threshold_bytes=99999999999999999G", Status::out_of_range,
         "purge_threshold_bytes cannot be '99999999999999999G'; it must be a size from 0 to 64G"},
        {"largest_small_bytes=65K", Status::out_of_range,
         "largest_small_bytes cannot be '65K'; it must be a size from 1K to 64K"},
        {"largest_small_bytes=0", Status::out_of_range,
         "largest_small_bytes cannot be '0'; it must be a size from 1K to 64K"},
        {"profile_sampling_bytes=often", Status::bad_argument,
         "profile_sampling_bytes cannot be 'often'; it must be a size from 0 to 1024G"},
        {"profile_sampling_bytes=1025G", Status::out_of_range,
         "profile_sampling_bytes cannot be '1025G'; it must be a size from 0 to 1024G"},
        {"budget_bytes=100", Status::out_of_range, "budget_bytes must be 0, or a size from 1M"},
        {"budget_bytes=1M system_cache_bytes=2M", Status::out_of_range,
         "system_cache_bytes must be at most budget_bytes"},
    };
    for (const Mistake& mistake : mistakes) {
        SCOPED_TRACE(mistake.text);
        MemoryConfig config;
        ConfigProblem problem;
        const std::string text = std::string("guard_sampling=5 ") + mistake.text;
        EXPECT_EQ(parse_config(text, config, &problem).status(), mistake.status);
        EXPECT_EQ(problem.status, mistake.status);
        EXPECT_EQ(text_of(problem), mistake.message);
        EXPECT_EQ(config, MemoryConfig{});
    }
}

TEST(MemoryConfig, AnUnknownKeyIsToldTheKnownOnes) {
    MemoryConfig config;
    ConfigProblem problem;
    EXPECT_EQ(parse_config("small_limit=1", config, &problem).status(), Status::not_found);
    EXPECT_EQ(text_of(problem),
              "there is no setting 'small_limit'; there are heap_max_bytes, purge_threshold_bytes, "
              "largest_small_bytes, heap_huge_pages_from_bytes, system_cache_bytes, budget_bytes, numa, "
              "guard_sampling, profile_sampling_bytes, huge_pages");
    EXPECT_EQ(parse_config("=1", config).status(), Status::not_found);
}

TEST(MemoryConfig, ValuesSetByCodeAreValidatedToo) {
    ConfigProblem problem;
    MemoryConfig config;
    config.numa = static_cast<NumaPolicy>(7);
    EXPECT_EQ(validate(config, &problem).status(), Status::out_of_range);
    EXPECT_EQ(problem.key, "numa");
    config = {};
    config.heap_max_bytes = 1;
    EXPECT_EQ(validate(config).status(), Status::out_of_range);
}

TEST(MemoryConfig, ItsDescriptionReadsBackAsItself) {
    MemoryConfig config;
    ASSERT_TRUE(parse_config("heap_max_bytes=768M huge_pages=transparent guard_sampling=17", config));
    std::array<char, 2048> text{};
    const std::size_t length = describe_config(config, text);
    ASSERT_LT(length, text.size());
    EXPECT_EQ(std::string_view(text.data()).size(), length);
    MemoryConfig again;
    ASSERT_TRUE(parse_config(text.data(), again));
    EXPECT_EQ(again, config);
    EXPECT_NE(std::string_view(text.data()).find("system_cache_bytes=16M"), std::string_view::npos);
}

TEST(MemoryConfig, TextIsCutWhereItDoesNotFit) {
    std::array<char, 10> text{};
    text.fill('!');
    const std::size_t length = ouro::describe_config({}, text);
    EXPECT_GT(length, text.size());
    EXPECT_STREQ(text.data(), "heap_max_");
    EXPECT_EQ(ouro::describe_config({}, {}), length);
}

}  // namespace
