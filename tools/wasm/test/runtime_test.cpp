#include "workers.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory_resource>
#include <string>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

namespace {

int order = 0;
struct TakesItsTurn {
    int turn;
    TakesItsTurn() : turn(++order) {}
};
TakesItsTurn first_static;
TakesItsTurn second_static;
const std::string text_static = "a string that is too long for the small buffer";

TEST(Statics, ConstructorsRanOnceInOrder) {
    EXPECT_EQ(first_static.turn, 1);
    EXPECT_EQ(second_static.turn, 2);
    EXPECT_EQ(order, 2);
    EXPECT_EQ(text_static.size(), 46u);
}

TEST(Statics, NewThreadsDoNotRunThemAgain) {
    ASSERT_EQ(Workers::run(2, [](int) {}), 0);
    EXPECT_EQ(order, 2);
}

TEST(Memory, CopyAndCompareAllSmallSizesAndOffsets) {
    unsigned char from[80];
    unsigned char to[80];
    for (std::size_t i = 0; i < sizeof from; ++i)
        from[i] = static_cast<unsigned char>(i * 7 + 1);
    for (std::size_t offset = 0; offset < 9; ++offset) {
        for (std::size_t bytes = 0; bytes < 64; ++bytes) {
            std::memset(to, 0xEE, sizeof to);
            std::memcpy(to + 3, from + offset, bytes);
            ASSERT_EQ(std::memcmp(to + 3, from + offset, bytes), 0) << offset << " " << bytes;
            ASSERT_EQ(to[2], 0xEE);
            ASSERT_EQ(to[3 + bytes], 0xEE);
            if (bytes == 0) continue;
            ++to[3 + bytes - 1];
            ASSERT_GT(std::memcmp(to + 3, from + offset, bytes), 0);
            ASSERT_LT(std::memcmp(from + offset, to + 3, bytes), 0);
        }
    }
    std::memmove(from + 1, from, 40);
    EXPECT_EQ(from[1], 1);
    EXPECT_EQ(from[40], static_cast<unsigned char>(39 * 7 + 1));
}

TEST(Memory, TextFunctions) {
    EXPECT_EQ(std::strlen("seven c"), 7u);
    EXPECT_LT(std::strcmp("abc", "abd"), 0);
    EXPECT_GT(std::strcmp("abc", "ab"), 0);
    EXPECT_EQ(std::strncmp("abcx", "abcy", 3), 0);
    const char* text = "needle in hay";
    EXPECT_EQ(std::strstr(text, "in"), text + 7);
    EXPECT_EQ(std::strstr(text, "out"), nullptr);
    EXPECT_EQ(std::strchr(text, 'h'), text + 10);
    EXPECT_EQ(std::memchr(text, 'z', 13), nullptr);
}

TEST(StandardLibrary, ContainersStringsAndAlgorithms) {
    std::vector<int> numbers;
    for (int i = 0; i < 10'000; ++i)
        numbers.push_back((i * 7919) % 10'007);
    std::sort(numbers.begin(), numbers.end());
    EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
    std::string text;
    std::map<std::string, int> ordered;
    std::unordered_map<int, std::string> hashed;
    for (int i = 0; i < 1'000; ++i) {
        text += std::to_string(i) + ",";
        ordered["key " + std::to_string(i)] = i;
        hashed[i] = std::to_string(i);
    }
    EXPECT_EQ(text.size(), 3'890u);
    EXPECT_EQ(ordered.at("key 77"), 77);
    EXPECT_EQ(hashed.size(), 1'000u);
    EXPECT_EQ(hashed.at(999), "999");
    std::function<int(int)> twice = [](int x) { return 2 * x; };
    EXPECT_EQ(twice(21), 42);
}

TEST(StandardLibrary, PolymorphicMemoryResources) {
    std::pmr::vector<int> values(std::pmr::get_default_resource());
    values.assign(100, 3);
    EXPECT_EQ(values.size(), 100u);
    EXPECT_EQ(std::pmr::get_default_resource(), std::pmr::new_delete_resource());
}

TEST(Compiler, WideMultiplicationLinks) {
    volatile std::uint64_t a = 0xFEDC'BA98'7654'3210;
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * a;
    EXPECT_EQ(static_cast<std::uint64_t>(product), 0xDEEC'6CD7'A44A'4100);
    EXPECT_EQ(static_cast<std::uint64_t>(product >> 64), 0xFDBA'C097'C8DC'5ACC);
}

}  // namespace
