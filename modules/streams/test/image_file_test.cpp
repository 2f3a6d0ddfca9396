// Saved images as bytes in memory: the same on every platform. What is damaged changes nothing.
#include <ouro/base/hash.hpp>
#include <ouro/base/random.hpp>
#include <ouro/streams/image_file.hpp>
#include <ouro/streams/live_image.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

constexpr std::uint64_t kGoldenState = 12398690576670800561U;
constexpr std::uint64_t kGoldenWords = 10388020369890667497U;
constexpr std::uint64_t kGoldenRaw = 7116824043497836232U;

constexpr std::array kSegments = {
    SegmentOptions{.name = "world", .bytes = 256 << 10},
    SegmentOptions{.name = "terrain", .bytes = 128 << 10},
    SegmentOptions{.name = "scripts", .bytes = 64 << 10, .kind = SegmentKind::process_bound},
};

StateRing make_ring(std::span<const SegmentOptions> segments = kSegments) {
    auto ring = StateRing::create({.segments = segments, .history_ticks = 16, .history_bytes = 8 << 20});
    EXPECT_TRUE(ring) << status_name(ring.status());
    return *std::move(ring);
}

void put(StateRing& ring, std::string_view segment, std::size_t offset, std::span<const std::byte> bytes) {
    const auto block = ring.segment_block(segment);
    ASSERT_TRUE(block);
    std::memcpy(block->data + offset, bytes.data(), bytes.size());
    ASSERT_EQ(ring.mark(block->data + offset, bytes.size()), Status::ok);
}

// Numbers that grow slowly, as positions do, and some that are noise.
void fill(StateRing& ring, std::uint32_t seed) {
    std::array<std::uint64_t, 2048> slow{};
    for (std::size_t i = 0; i < slow.size(); ++i)
        slow[i] = seed + 1000 * i;
    std::array<std::uint64_t, 512> noise{};
    for (std::size_t i = 0; i < noise.size(); ++i)
        noise[i] = random_at(seed, 0, i);
    put(ring, "world", 4096, std::as_bytes(std::span(slow)));
    put(ring, "terrain", 8192, std::as_bytes(std::span(noise)));
}

std::vector<std::byte> saved(const StateRing& ring, ImageCodec codec = ImageCodec::words) {
    std::vector<std::byte> bytes;
    const ImageSink sink{.write =
                             [](void* context, std::span<const std::byte> piece) noexcept {
                                 auto& all = *static_cast<std::vector<std::byte>*>(context);
                                 all.insert(all.end(), piece.begin(), piece.end());
                                 return Status::ok;
                             },
                         .context = &bytes};
    const auto view = ring.view(ring.newest());
    EXPECT_TRUE(view);
    const auto info = write_image(*view, sink, codec);
    EXPECT_TRUE(info);
    EXPECT_EQ(info ? info->bytes : 0, bytes.size());
    EXPECT_EQ(info ? info->state_hash : 0, *ring.hash(ring.newest()));
    return bytes;
}

Expected<Tick> load(StateRing& ring, const std::vector<std::byte>& bytes) {
    const std::span<const std::byte> all(bytes);
    return read_image(ring, image_source(all));
}

Status check(const std::vector<std::byte>& bytes) {
    const std::span<const std::byte> all(bytes);
    return check_image(image_source(all)).status();
}

TEST(ImageFile, WhatWasSavedIsLoaded) {
    for (const ImageCodec codec : {ImageCodec::raw, ImageCodec::words}) {
        StateRing source = make_ring();
        fill(source, 7);
        ASSERT_TRUE(source.commit());
        const auto bytes = saved(source, codec);
        StateRing target = make_ring();
        // What is not in the file becomes zero; what is process-bound stays.
        const std::array<std::byte, 3> others = {std::byte{1}, std::byte{2}, std::byte{3}};
        put(target, "world", 200'000, others);
        put(target, "scripts", 10, others);
        const auto tick = load(target, bytes);
        ASSERT_TRUE(tick) << status_name(tick.status());
        EXPECT_EQ(*tick, 2U);
        EXPECT_EQ(*target.hash(*tick), *source.hash(source.newest()));
        EXPECT_EQ(target.segment_block("world")->data[200'000], std::byte{0});
        EXPECT_EQ(target.segment_block("scripts")->data[10], std::byte{1});
        // And what was there before can be gone back to.
        ASSERT_TRUE(target.rollback(1));
        EXPECT_EQ(target.segment_block("world")->data[200'000], std::byte{1});
        EXPECT_EQ(target.check(), Status::ok);
    }
}

TEST(ImageFile, PackedPagesAreSmaller) {
    StateRing ring = make_ring();
    fill(ring, 7);
    ASSERT_TRUE(ring.commit());
    const auto raw = saved(ring, ImageCodec::raw);
    const auto words = saved(ring, ImageCodec::words);
    EXPECT_EQ(raw.size(), 48U + 6U * (16 + 4096) + 16);
    EXPECT_LT(words.size(), raw.size() / 2);
}

TEST(ImageFile, AnyTickCanBeSaved) {
    StateRing ring = make_ring();
    fill(ring, 1);
    ASSERT_TRUE(ring.commit());
    const auto first = saved(ring);
    fill(ring, 2);
    ASSERT_TRUE(ring.commit());
    std::vector<std::byte> again;
    const auto view = ring.view(1);
    ASSERT_TRUE(view);
    ASSERT_TRUE(write_image(*view, {.write =
                                        [](void* context, std::span<const std::byte> piece) noexcept {
                                            auto& all = *static_cast<std::vector<std::byte>*>(context);
                                            all.insert(all.end(), piece.begin(), piece.end());
                                            return Status::ok;
                                        },
                                    .context = &again}));
    EXPECT_EQ(first, again);
}

// The bytes themselves are the same wherever they are made: so each platform loads what another has saved.
TEST(ImageFile, TheBytesAreTheSameOnEveryPlatform) {
    StateRing ring = make_ring();
    fill(ring, 42);
    ASSERT_TRUE(ring.commit());
    const auto words = saved(ring, ImageCodec::words);
    const auto raw = saved(ring, ImageCodec::raw);
    EXPECT_EQ(*ring.hash(1), kGoldenState);
    EXPECT_EQ(hash_bytes(words.data(), words.size(), 0), kGoldenWords);
    EXPECT_EQ(hash_bytes(raw.data(), raw.size(), 0), kGoldenRaw);
}

TEST(ImageFile, AnEmptyImageIsAnImage) {
    StateRing ring = make_ring();
    const auto bytes = saved(ring);
    fill(ring, 3);
    const auto tick = load(ring, bytes);
    ASSERT_TRUE(tick);
    EXPECT_EQ(*ring.hash(*tick), *ring.hash(0));
}

class DamagedImage : public testing::Test {
protected:
    void SetUp() override {
        StateRing source = make_ring();
        fill(source, 9);
        ASSERT_TRUE(source.commit());
        bytes_ = saved(source);
        // Also what is not committed yet stays.
        fill(ring_, 4);
        ASSERT_TRUE(ring_.commit());
        fill(ring_, 5);
        const MemoryBlock image = ring_.image();
        before_.assign(image.data, image.data + image.size);
    }

    void expect_refused(const std::vector<std::byte>& bytes, Status status) {
        EXPECT_EQ(load(ring_, bytes).status(), status);
        const MemoryBlock image = ring_.image();
        EXPECT_TRUE(std::equal(before_.begin(), before_.end(), image.data));
    }

    StateRing ring_ = make_ring();
    std::vector<std::byte> bytes_;
    std::vector<std::byte> before_;
};

TEST_F(DamagedImage, CutOffAnywhereItIsRefused) {
    for (std::size_t length = 0; length < bytes_.size(); length += length < 200 ? 1 : 97) {
        SCOPED_TRACE("length " + std::to_string(length));
        expect_refused({bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(length)},
                       length < 48 ? Status::wrong_format : Status::corrupt_data);
        if (HasFailure()) return;
    }
}

TEST_F(DamagedImage, EveryChangedBitIsNoticed) {
    for (std::uint64_t i = 0; i < 500; ++i) {
        const auto place = static_cast<std::size_t>(i < 100 ? i : random_at(1, 0, i) % bytes_.size());
        SCOPED_TRACE("byte " + std::to_string(place));
        auto damaged = bytes_;
        damaged[place] ^= static_cast<std::byte>(1U << (i % 8));
        EXPECT_NE(check(damaged), Status::ok);
        EXPECT_FALSE(load(ring_, damaged));
        if (HasFailure()) return;
    }
    expect_refused({}, Status::wrong_format);
}

TEST_F(DamagedImage, BytesBehindTheEndAreRefused) {
    bytes_.push_back(std::byte{0});
    expect_refused(bytes_, Status::corrupt_data);
}

TEST_F(DamagedImage, OtherFilesAreNoImages) {
    std::vector<std::byte> text(100, std::byte{'x'});
    expect_refused(text, Status::wrong_format);
    // A version to come.
    bytes_[8] = std::byte{2};
    expect_refused(bytes_, Status::wrong_format);
}

TEST_F(DamagedImage, AnotherLayoutIsRefused) {
    constexpr std::array kOthers = {SegmentOptions{.name = "world", .bytes = 256 << 10},
                                    SegmentOptions{.name = "seas", .bytes = 128 << 10}};
    StateRing other = make_ring(kOthers);
    ASSERT_TRUE(other.commit());
    expect_refused(saved(other), Status::wrong_layout);
    // A segment that is not saved does not count.
    const auto tick = load(ring_, saved(make_ring(std::span(kSegments).first(2))));
    EXPECT_TRUE(tick) << status_name(tick.status());
}

// What the first page says of the segments is only believed as long as it can be true.
TEST_F(DamagedImage, AFirstPageThatWasWrittenOverIsNotFollowed) {
    using Damage = void (*)(ImageHeader&);
    const std::array<Damage, 6> damages = {
        [](ImageHeader& header) { header.parts[0].offset += 100; },
        [](ImageHeader& header) { header.parts[0].offset = std::uint64_t{1} << 40; },
        [](ImageHeader& header) { header.parts[1].bytes = ~std::uint64_t{0}; },
        [](ImageHeader& header) { header.parts[1].bytes -= kStatePageBytes; },
        [](ImageHeader& header) { header.part_count = 1; },
        [](ImageHeader& header) { header.part_count = UINT32_MAX; }};
    for (const Damage damage : damages) {
        StateRing ring = make_ring();
        ASSERT_TRUE(ring.commit());
        damage(*reinterpret_cast<ImageHeader*>(ring.image().data));
        ASSERT_EQ(ring.mark(ring.image().data, sizeof(ImageHeader)), Status::ok);
        EXPECT_EQ(load(ring, bytes_).status(), Status::corrupt_data);
        const auto tick = ring.commit();
        ASSERT_TRUE(tick);
        const auto view = ring.view(*tick);
        ASSERT_TRUE(view);
        const ImageSink sink{.write = [](void*, std::span<const std::byte>) noexcept { return Status::ok; }};
        EXPECT_EQ(write_image(*view, sink).status(), Status::corrupt_data);
    }
}

// A source that gives way in the middle of the second reading, when some pages have been written already.
TEST_F(DamagedImage, ASourceThatFailsHalfWayChangesNothing) {
    struct Source {
        std::span<const std::byte> bytes;
        int left;
    };
    for (int calls = 0; calls < 8; ++calls) {
        SCOPED_TRACE("calls " + std::to_string(calls));
        Source source{.bytes = bytes_, .left = calls};
        const auto tick =
            read_image(ring_, {.read_at = [](void* context, std::uint64_t offset,
                                             std::span<std::byte> out) noexcept -> Expected<std::size_t> {
                                   auto& own = *static_cast<Source*>(context);
                                   if (own.left-- == 0) return Status::io_error;
                                   const auto whole = image_source(own.bytes);
                                   return whole.read_at(whole.context, offset, out);
                               },
                               .context = &source});
        if (tick) {
            EXPECT_GE(calls, 2);
            break;
        }
        EXPECT_EQ(tick.status(), Status::io_error);
        const MemoryBlock image = ring_.image();
        EXPECT_TRUE(std::equal(before_.begin(), before_.end(), image.data));
    }
}

TEST(ImageFile, ASinkThatFailsIsReported) {
    StateRing ring = make_ring();
    fill(ring, 1);
    ASSERT_TRUE(ring.commit());
    const auto view = ring.view(1);
    ASSERT_TRUE(view);
    const ImageSink full{
        .write = [](void*, std::span<const std::byte>) noexcept { return Status::io_error; }};
    EXPECT_EQ(write_image(*view, full).status(), Status::io_error);
    EXPECT_EQ(write_image(*view, full, static_cast<ImageCodec>(9)).status(), Status::bad_argument);
}

}  // namespace
}  // namespace ouro
