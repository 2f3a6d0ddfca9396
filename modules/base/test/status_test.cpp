#include <ouro/base/status.hpp>

#include <array>
#include <string_view>

#include <gtest/gtest.h>

namespace {

using ouro::Status;

// One past the highest code that may ever be assigned: the loop below visits them all.
constexpr unsigned kCodeSpace = 256;

TEST(Status, EveryCodeHasItsOwnNameAndAText) {
    std::array<std::string_view, kCodeSpace> names;
    unsigned known = 0;
    for (unsigned code = 0; code < kCodeSpace; ++code) {
        const auto status = static_cast<Status>(code);
        const std::string_view name = ouro::status_name(status);
        if (name == "unknown") continue;
        for (unsigned earlier = 0; earlier < known; ++earlier)
            EXPECT_TRUE(names[earlier] != name);
        names[known++] = name;
        const std::string_view text = ouro::status_text(status);
        ASSERT_FALSE(text.empty());
        EXPECT_EQ(text.back(), '.');
        // For whoever prints them with C's functions.
        EXPECT_EQ(name.data()[name.size()], '\0');
        EXPECT_EQ(text.data()[text.size()], '\0');
    }
    EXPECT_GT(known, 25U);
}

TEST(Status, AnUnknownCodeSaysSo) {
    EXPECT_TRUE(ouro::status_name(static_cast<Status>(255)) == "unknown");
    EXPECT_FALSE(ouro::status_text(static_cast<Status>(255)).empty());
}

// Files and other compilers' code hold these numbers.
TEST(Status, NumbersAreStable) {
    EXPECT_EQ(static_cast<int>(Status::ok), 0);
    EXPECT_EQ(static_cast<int>(Status::zero_size), 1);
    EXPECT_EQ(static_cast<int>(Status::out_of_memory), 20);
    EXPECT_EQ(static_cast<int>(Status::not_mapped), 40);
    EXPECT_EQ(static_cast<int>(Status::not_supported), 60);
    EXPECT_EQ(static_cast<int>(Status::os_error), 82);
}

}  // namespace
