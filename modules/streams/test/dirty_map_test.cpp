#include <ouro/streams/dirty_map.hpp>

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

class DirtyMapTest : public testing::Test {
protected:
    static constexpr std::uint32_t kPages = 100;

    alignas(8) std::array<DirtyMap::Byte, 128> pages_{};
    alignas(8) std::array<DirtyMap::Byte, 8> groups_{};
    std::vector<std::byte> image_ = std::vector<std::byte>(kPages * kStatePageBytes);
    DirtyMap map_{image_.data(), image_.size(), pages_, groups_};
    std::vector<std::uint32_t> found_ = std::vector<std::uint32_t>(kPages);

    std::vector<std::uint32_t> drain() {
        found_.resize(kPages);
        found_.resize(map_.drain(found_.data()));
        return found_;
    }
};

TEST_F(DirtyMapTest, ARangeMarksEachPageThatItTouches) {
    EXPECT_EQ(map_.mark(&image_[3 * kStatePageBytes + 4000], 200), Status::ok);
    EXPECT_EQ(map_.mark(&image_[70 * kStatePageBytes], kStatePageBytes), Status::ok);
    EXPECT_EQ(map_.mark(&image_[image_.size() - 1], 1), Status::ok);
    EXPECT_EQ(map_.count(), 4U);
    EXPECT_EQ(drain(), (std::vector<std::uint32_t>{3, 4, 70, 99}));
    EXPECT_TRUE(drain().empty());
    EXPECT_EQ(map_.count(), 0U);
}

TEST_F(DirtyMapTest, WhatIsNotInTheImageIsRefusedAndMarksNothing) {
    EXPECT_EQ(map_.mark(image_.data() + image_.size(), 1), Status::out_of_range);
    EXPECT_EQ(map_.mark(image_.data() - 1, 1), Status::out_of_range);
    EXPECT_EQ(map_.mark(image_.data(), image_.size() + 1), Status::out_of_range);
    EXPECT_EQ(map_.mark(&image_[5], SIZE_MAX), Status::out_of_range);
    EXPECT_EQ(map_.mark(&image_[5], 0), Status::ok);
    EXPECT_TRUE(drain().empty());
}

TEST_F(DirtyMapTest, EveryPageCanBeMarkedAtOnce) {
    EXPECT_EQ(map_.mark(image_.data(), image_.size()), Status::ok);
    ASSERT_EQ(drain().size(), kPages);
    for (std::uint32_t page = 0; page < kPages; ++page)
        EXPECT_EQ(found_[page], page);
}

}  // namespace
}  // namespace ouro
