#include <ouro/streams/image_mapping.hpp>
#include <ouro/streams/state_ring.hpp>

#include <array>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::ImageHeader;
using ouro::ImageMapping;
using ouro::LiveImage;
using ouro::SegmentOptions;
using ouro::Status;

constexpr std::array kSegments = {
    SegmentOptions{.name = "world", .bytes = 128 << 10},
    SegmentOptions{.name = "lua", .bytes = 64 << 10, .kind = ouro::SegmentKind::process_bound},
    SegmentOptions{.name = "rules", .bytes = 64 << 10},
};

class ImageMappingTest : public testing::Test {
protected:
    ImageMappingTest() : live(*LiveImage::create({.segments = kSegments})) {
        bytes.assign(live.block().begin(), live.block().end());
    }

    // The status with a header that was changed, and says so in its hash.
    template <class Change>
    [[nodiscard]] Status with(Change change) const {
        std::vector<std::byte> changed = bytes;
        ImageHeader header;
        std::memcpy(&header, changed.data(), sizeof(header));
        change(header);
        std::memcpy(changed.data(), &header, sizeof(header));
        return ImageMapping::look_at(changed).status();
    }
    template <class Change>
    [[nodiscard]] Status with_part(Change change) const {
        return with([&](ImageHeader& header) {
            change(header.parts[1]);
            header.layout_hash = header.hash_of_parts();
        });
    }

    LiveImage live;
    std::vector<std::byte> bytes;
};

TEST_F(ImageMappingTest, NamesThePortableSegments) {
    live.block_of(*live.segment("rules")).data[100] = std::byte{7};
    const auto image = ImageMapping::look_at(live.block().bytes());
    ASSERT_TRUE(image);
    ASSERT_EQ(image->segments().size(), 2U);
    const auto rules = image->segment("rules");
    ASSERT_TRUE(rules);
    EXPECT_EQ(rules->size(), std::size_t{64} << 10);
    EXPECT_EQ((*rules)[100], std::byte{7});
    EXPECT_EQ(image->segment("lua").status(), Status::not_found);
    EXPECT_EQ(image->segment("").status(), Status::not_found);
    EXPECT_EQ(image->base().size(), live.block().size);
    EXPECT_EQ(image->base().start(), live.block().data);
}

TEST_F(ImageMappingTest, WhatIsNoImageIsRefused) {
    EXPECT_EQ(ImageMapping::look_at({}).status(), Status::wrong_format);
    EXPECT_EQ(ImageMapping::look_at(std::vector<std::byte>(65'536)).status(), Status::wrong_format);
    EXPECT_EQ(ImageMapping::look_at(std::span(bytes).first(4095)).status(), Status::wrong_format);
    EXPECT_EQ(with([](ImageHeader& header) { header.magic[0] = 'x'; }), Status::wrong_format);
    EXPECT_EQ(with([](ImageHeader& header) { ++header.version; }), Status::wrong_format);
    EXPECT_EQ(with([](ImageHeader& header) { header.page_bytes = 65'536; }), Status::wrong_format);
    EXPECT_EQ(with([](ImageHeader&) {}), Status::ok);
}

TEST_F(ImageMappingTest, ATruncatedOneIsRefused) {
    // The process-bound segment is the last, and nobody's business.
    const std::size_t portable_end = (64 + 128 + 64) << 10;
    EXPECT_EQ(ImageMapping::look_at(std::span(bytes).first(portable_end)).status(), Status::ok);
    EXPECT_EQ(ImageMapping::look_at(std::span(bytes).first(portable_end - 1)).status(), Status::out_of_range);
    EXPECT_EQ(ImageMapping::look_at(std::span(bytes).first(4096)).status(), Status::out_of_range);
}

TEST_F(ImageMappingTest, DamageIsRefused) {
    using Part = ImageHeader::Part;
    EXPECT_EQ(with([](ImageHeader& header) { header.part_count = 33; }), Status::corrupt_data);
    EXPECT_EQ(with([](ImageHeader& header) { ++header.layout_hash; }), Status::corrupt_data);
    EXPECT_EQ(with([](ImageHeader& header) { header.parts[0].offset += 65'536; }), Status::corrupt_data);
    EXPECT_EQ(with_part([](Part& part) { part.offset = 0; }), Status::corrupt_data);
    EXPECT_EQ(with_part([](Part& part) { part.offset -= 65'536; }), Status::corrupt_data) << "overlaps";
    EXPECT_EQ(with_part([](Part& part) { part.offset += 1; }), Status::corrupt_data);
    EXPECT_EQ(with_part([](Part& part) { part.offset = std::uint64_t{1} << 33; }), Status::corrupt_data);
    EXPECT_EQ(with_part([](Part& part) { part.offset = ~std::uint64_t{65'535}; }), Status::corrupt_data);
    EXPECT_EQ(with_part([](Part& part) { part.bytes = 0; }), Status::corrupt_data);
    EXPECT_EQ(with_part([](Part& part) { part.bytes = ~std::uint64_t{65'535}; }), Status::corrupt_data);
    EXPECT_EQ(with_part([](Part& part) { part.bytes += 8; }), Status::corrupt_data);
    EXPECT_EQ(with_part([](Part& part) { part.name = {}; }), Status::corrupt_data);
    EXPECT_EQ(with_part([](Part& part) { part.name.fill('a'); }), Status::corrupt_data);
    EXPECT_EQ(with_part([](Part& part) { part.bytes += 1 << 20; }), Status::out_of_range);
}

}  // namespace
