// What an image does with its addresses when another takes its place.
#include "small_table.hpp"

#include <ouro/streams/live_image.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ouro {
namespace {

using testing_support::kKib;
using testing_support::small_table;

constexpr std::array kSegments = {SegmentOptions{.name = "world", .bytes = 256 * kKib}};

void put(const LiveImage& image, std::uint8_t value) {
    const MemoryBlock world = image.block_of(*image.segment("world"));
    std::memset(world.data, value, world.size);
}

// Through both mappings, from end to end.
void expect_holds(const LiveImage& image, std::uint8_t value) {
    const Segment world = *image.segment("world");
    for (const MemoryBlock block : {image.block(), image.alias()})
        for (std::uint64_t at = 0; at < world.bytes; at += kStatePageBytes / 2)
            ASSERT_EQ(block.data[world.offset + at], std::byte{value}) << "at " << at;
}

void* address_of(const LiveImage& image) {
    return image.block().data;
}

// The image that was there gives its addresses back, and no more than those.
TEST(LiveImageTest, AnotherTakesThePlaceOfALiveOne) {
    auto image = LiveImage::create({.segments = kSegments});
    auto other = LiveImage::create({.segments = kSegments});
    ASSERT_TRUE(image && other);
    put(*image, 1);
    put(*other, 2);
    void* const before = address_of(*image);
    void* const after = address_of(*other);
    *image = *std::move(other);
    EXPECT_EQ(address_of(*image), after);
    expect_holds(*image, 2);

    const auto third = LiveImage::create({.segments = kSegments, .address = before});
    ASSERT_TRUE(third) << status_name(third.status());
    expect_holds(*third, 0);
    put(*third, 3);
    put(*image, 4);
    expect_holds(*third, 3);
    expect_holds(*image, 4);
}

TEST(LiveImageTest, AnotherTakesItsPlaceInATable) {
    MemoryTable table = small_table();
    auto image = LiveImage::create({.segments = kSegments, .table = &table, .name = "first"});
    auto other = LiveImage::create({.segments = kSegments, .table = &table, .name = "second"});
    ASSERT_TRUE(image && other);
    put(*image, 1);
    put(*other, 2);
    void* const before = address_of(*image);
    *image = *std::move(other);
    expect_holds(*image, 2);

    const auto third = LiveImage::create({.segments = kSegments, .table = &table, .name = "first"});
    ASSERT_TRUE(third) << status_name(third.status());
    EXPECT_EQ(address_of(*third), before);
    expect_holds(*third, 0);
    put(*third, 3);
    expect_holds(*third, 3);
    expect_holds(*image, 2);
}

TEST(LiveImageTest, TakesItsOwnPlace) {
    auto image = LiveImage::create({.segments = kSegments});
    ASSERT_TRUE(image);
    put(*image, 5);
    LiveImage& same = *image;
    *image = std::move(same);
    expect_holds(*image, 5);
}

// Both mappings are of memory that processes share: a child of a fork has no image of its own.
TEST(LiveImageTest, AChildOfAForkWritesToTheSameImage) {
    const auto image = LiveImage::create({.segments = kSegments});
    ASSERT_TRUE(image);
    put(*image, 1);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        put(*image, 2);
        _exit(0);
    }
    int state = 0;
    ASSERT_EQ(waitpid(child, &state, 0), child);
    EXPECT_EQ(state, 0);
    expect_holds(*image, 2);
}

}  // namespace
}  // namespace ouro
