#include <ouro/base/random.hpp>
#include <ouro/streams/dirty_map.hpp>
#include <ouro/streams/mark_cursor.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

template <std::size_t kCount>
struct alignas(kStateLineBytes) LineMarks {
    std::array<DirtyMap::Byte, kCount> bytes{};
};

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

TEST_F(DirtyMapTest, WhoMarksAloneMarksTheSamePages) {
    map_.mark_alone(&image_[3 * kStatePageBytes], 1);
    map_.mark_alone(&image_[8 * kStatePageBytes - 4], 8);
    map_.mark_alone(&image_[20 * kStatePageBytes - 8], 8);
    map_.mark_alone(&image_[30 * kStatePageBytes], kStatePageBytes);
    // Over the border of a group, and a whole page that begins anywhere.
    map_.mark_alone(&image_[64 * kStatePageBytes - 1], kStatePageBytes);
    map_.mark_alone(&image_[image_.size() - 1], 1);
    EXPECT_EQ(drain(), (std::vector<std::uint32_t>{3, 7, 8, 19, 30, 63, 64, 99}));
    map_.mark_alone(&image_[10 * kStatePageBytes - 1], 2 * kStatePageBytes + 2);
    EXPECT_EQ(drain(), (std::vector<std::uint32_t>{9, 10, 11, 12}));
    map_.mark_alone(image_.data(), image_.size());
    EXPECT_EQ(drain().size(), kPages);
}

TEST_F(DirtyMapTest, WhatIsToBeWrittenIsMarked) {
    std::byte& one = map_.writable(image_[9 * kStatePageBytes]);
    EXPECT_EQ(&one, &image_[9 * kStatePageBytes]);
    const std::span run = map_.writable(std::span(image_).subspan(20 * kStatePageBytes - 1, 2));
    EXPECT_EQ(run.size(), 2U);
    EXPECT_EQ(drain(), (std::vector<std::uint32_t>{9, 19, 20}));
}

// Whatever the order and the sizes, a cursor marks what a map does.
TEST_F(DirtyMapTest, ACursorMarksTheSamePages) {
    MarkCursor all(map_);
    for (std::size_t at = 0; at < image_.size(); at += 24)
        EXPECT_EQ(all.mark(&image_[at], std::min<std::size_t>(24, image_.size() - at)), Status::ok);
    EXPECT_EQ(drain().size(), kPages);
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        MarkCursor cursor(map_);
        std::vector<std::uint32_t> expected;
        for (std::uint64_t i = 0; i < 20; ++i) {
            const std::size_t at = random_at(seed, 1, i) % image_.size();
            const std::size_t bytes =
                std::min<std::size_t>(1 + random_at(seed, 2, i) % 6000, image_.size() - at);
            EXPECT_EQ(cursor.mark(&image_[at], bytes), Status::ok);
            for (std::size_t page = at / kStatePageBytes; page <= (at + bytes - 1) / kStatePageBytes; ++page)
                expected.push_back(static_cast<std::uint32_t>(page));
        }
        std::ranges::sort(expected);
        expected.erase(std::ranges::unique(expected).begin(), expected.end());
        ASSERT_EQ(drain(), expected);
        EXPECT_EQ(cursor.mark(image_.data() - 1, 1), Status::out_of_range);
        EXPECT_EQ(cursor.mark(image_.data() + image_.size(), 1), Status::out_of_range);
    }
}

TEST_F(DirtyMapTest, WhatIsNotInTheImageIsRefusedAndMarksNothing) {
    EXPECT_EQ(map_.mark(image_.data() + image_.size(), 1), Status::out_of_range);
    EXPECT_EQ(map_.mark(image_.data() - 1, 1), Status::out_of_range);
    EXPECT_EQ(map_.mark(image_.data(), image_.size() + 1), Status::out_of_range);
    EXPECT_EQ(map_.mark(&image_[5], SIZE_MAX), Status::out_of_range);
    EXPECT_EQ(map_.mark(&image_[5], 0), Status::ok);
    EXPECT_TRUE(drain().empty());
}

// Lines of 64 bytes: what is marked is found once, in its page and no other.
TEST_F(DirtyMapTest, LinesAreToldApart) {
    constexpr std::size_t kLines = kPages * kStatePageBytes / kStateLineBytes;
    const auto marks = std::make_unique<LineMarks<kLines>>();
    DirtyMap map(image_.data(), image_.size(), pages_, groups_, marks->bytes);
    EXPECT_EQ(map.unit_bytes(), kStateLineBytes);
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        MarkCursor cursor(map);
        std::vector<std::uint64_t> expected(kPages);
        for (std::uint64_t i = 0; i < 20; ++i) {
            const std::size_t at = random_at(seed, 1, i) % image_.size();
            const std::size_t bytes =
                std::min<std::size_t>(1 + random_at(seed, 2, i) % 300, image_.size() - at);
            ASSERT_EQ(i % 2 == 0 ? map.mark(&image_[at], bytes) : cursor.mark(&image_[at], bytes),
                      Status::ok);
            for (std::size_t line = at / kStateLineBytes; line <= (at + bytes - 1) / kStateLineBytes; ++line)
                expected[line / 64] |= std::uint64_t{1} << line % 64;
        }
        found_.resize(kPages);
        found_.resize(map.drain(found_.data()));
        for (std::uint32_t page = 0; page < kPages; ++page) {
            ASSERT_EQ(std::ranges::binary_search(found_, page), expected[page] != 0) << "page " << page;
            ASSERT_EQ(map.take_lines(page), expected[page]) << "page " << page;
            ASSERT_EQ(map.take_lines(page), 0U);
        }
    }
}

TEST_F(DirtyMapTest, WhoMarksAloneMarksTheSameLines) {
    constexpr std::size_t kLines = kPages * kStatePageBytes / kStateLineBytes;
    const auto marks = std::make_unique<LineMarks<kLines>>();
    DirtyMap map(image_.data(), image_.size(), pages_, groups_, marks->bytes);
    constexpr std::uint64_t kFirst = 1;
    constexpr std::uint64_t kLast = std::uint64_t{1} << 63;
    map.mark_alone(&image_[3 * kStatePageBytes + kStateLineBytes - 1], 2);
    map.mark_alone(&image_[6 * kStatePageBytes - 4], 8);
    map.mark_alone(&image_[9 * kStatePageBytes - 1], kStatePageBytes + 2);
    EXPECT_EQ(map.drain(found_.data()), 6U);
    EXPECT_EQ(map.take_lines(3), kFirst | kFirst << 1);
    EXPECT_EQ(map.take_lines(5), kLast);
    EXPECT_EQ(map.take_lines(6), kFirst);
    EXPECT_EQ(map.take_lines(8), kLast);
    EXPECT_EQ(map.take_lines(9), ~std::uint64_t{0});
    EXPECT_EQ(map.take_lines(10), kFirst);
    EXPECT_EQ(map.take_lines(4) | map.take_lines(7) | map.take_lines(11), 0U);
}

TEST_F(DirtyMapTest, APageAsAWholeHasAllItsLines) {
    constexpr std::size_t kLines = kPages * kStatePageBytes / kStateLineBytes;
    const auto marks = std::make_unique<LineMarks<kLines>>();
    DirtyMap map(image_.data(), image_.size(), pages_, groups_, marks->bytes);
    ASSERT_EQ(map.mark(&image_[3 * kStatePageBytes + 100], 1), Status::ok);
    map.mark_page(3);
    map.mark_page(4);
    ASSERT_EQ(map.mark(&image_[4 * kStatePageBytes + 100], 1), Status::ok);
    EXPECT_EQ(map.take_lines(3), ~std::uint64_t{0});
    EXPECT_EQ(map.take_lines(4), ~std::uint64_t{0});
    EXPECT_EQ(map.take_lines(2), 0U);
    EXPECT_EQ(map.take_lines(5), 0U);
}

TEST_F(DirtyMapTest, EveryPageCanBeMarkedAtOnce) {
    EXPECT_EQ(map_.mark(image_.data(), image_.size()), Status::ok);
    ASSERT_EQ(drain().size(), kPages);
    for (std::uint32_t page = 0; page < kPages; ++page)
        EXPECT_EQ(found_[page], page);
}

}  // namespace
}  // namespace ouro
