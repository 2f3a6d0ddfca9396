// An image of 4 GiB, the largest there is: offsets above 2^31 and up to the last byte in marks, commits,
// rollbacks, views, changes, hashes and files. Only a few pages are ever touched, so that little memory is
// used.
#include <ouro/base/hash.hpp>
#include <ouro/base/offset_ptr.hpp>
#include <ouro/memory/block_registry.hpp>
#include <ouro/os/virtual_memory.hpp>
#include <ouro/streams/image_file.hpp>
#include <ouro/streams/live_image.hpp>
#include <ouro/streams/state_ring.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace ouro {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kHalf = std::uint64_t{1} << 31;

// The first ends behind 2^31, the others lie above it, up to 2^32.
constexpr std::array kSegments = {
    SegmentOptions{.name = "plain", .bytes = 3328 * kMiB},
    SegmentOptions{.name = "fine", .bytes = 512 * kMiB, .fine = true},
    SegmentOptions{.name = "bound", .bytes = 192 * kMiB, .kind = SegmentKind::process_bound},
    SegmentOptions{.name = "found",
                   .bytes = 64 * kMiB - kSegmentAlignment,
                   .kind = SegmentKind::process_bound,
                   .tracking = Tracking::automatic},
};

// Around the border, over the end of a page there, and at both ends of each segment, the image's last bytes
// among them.
std::vector<std::uint64_t> places(const StateRing& ring) {
    std::vector<std::uint64_t> all = {kHalf - 4096, kHalf - 4, kHalf + 8, kHalf + 4092, kHalf + 77 * 4096};
    for (const Segment& segment : ring.segments()) {
        all.push_back(segment.offset);
        all.push_back(segment.offset + segment.bytes - 8);
    }
    return all;
}

void write(StateRing& ring, std::uint64_t offset, std::uint64_t value) {
    std::byte* at = ring.image().data + offset;
    std::memcpy(at, &value, sizeof(value));
    ASSERT_EQ(ring.mark(at, sizeof(value)), Status::ok);
}

std::uint64_t live_word(const StateRing& ring, std::uint64_t offset) {
    std::uint64_t word = 0;
    std::memcpy(&word, ring.image().data + offset, sizeof(word));
    return word;
}

std::uint64_t past_word(const TickView& view, std::uint64_t offset) {
    std::uint64_t word = 0;
    EXPECT_EQ(view.read(offset, std::as_writable_bytes(std::span(&word, 1))), Status::ok);
    return word;
}

// The sum over the pages that were written, of portable segments or of the others.
std::uint64_t hash_of(const StateRing& ring, SegmentKind kind) {
    std::vector<std::uint64_t> pages = {0};
    for (const std::uint64_t place : places(ring))
        for (const std::uint64_t page : {place >> kStatePageShift, (place + 7) >> kStatePageShift})
            if (std::ranges::find(pages, page) == pages.end()) pages.push_back(page);
    std::uint64_t sum = 0;
    for (const std::uint64_t page : pages) {
        SegmentKind own = SegmentKind::portable;
        for (const Segment& segment : ring.segments())
            if ((page << kStatePageShift) - segment.offset < segment.bytes) own = segment.kind;
        const std::byte* bytes = ring.image().data + (page << kStatePageShift);
        if (own == kind) sum += hash_bytes(bytes, kStatePageBytes, page);
    }
    return sum;
}

class LargeImage : public testing::Test {
protected:
    static constexpr Tick kTicks = 8;

    void SetUp() override {
        // Every page twice, and what is beside them.
        auto ring = StateRing::create({.segments = kSegments,
                                       .history_ticks = 16,
                                       .history_bytes = 9216 * kMiB,
                                       .reader_bytes = 16 * kMiB,
                                       .unpacked_bytes = 16 * kMiB,
                                       .huge_pages = false});
        ASSERT_TRUE(ring) << status_name(ring.status());
        ring_ = *std::move(ring);
        ASSERT_EQ(ring_.image().size, LiveImage::kMaxBytes);
        where_ = places(ring_);
        for (Tick tick = 1; tick <= kTicks; ++tick)
            run_tick(tick);
    }

    void run_tick(Tick tick) {
        for (std::size_t index = 0; index < where_.size(); ++index)
            write(ring_, where_[index], value_at(tick, index));
        const auto done = ring_.commit();
        ASSERT_TRUE(done) << status_name(done.status());
        ASSERT_EQ(*done, tick);
        hashes_[tick] = {*ring_.hash(tick), *ring_.hash(tick, SegmentKind::process_bound)};
        EXPECT_EQ(hashes_[tick][0], hash_of(ring_, SegmentKind::portable));
        EXPECT_EQ(hashes_[tick][1], hash_of(ring_, SegmentKind::process_bound));
    }

    // Both halves differ: some words lie in two pages.
    [[nodiscard]] static std::uint64_t value_at(Tick tick, std::size_t index) {
        return tick * 0x0001'0001'0000'1000U + index + 1;
    }

    void expect_past() {
        // Lines, but for the tick in which a page was new.
        EXPECT_GE(ring_.stats().packed_versions, 2U * (kTicks - 1));
        for (Tick tick = 1; tick <= kTicks; ++tick) {
            const auto view = ring_.view(tick);
            ASSERT_TRUE(view) << status_name(view.status());
            for (std::size_t index = 0; index < where_.size(); ++index)
                EXPECT_EQ(past_word(*view, where_[index]), value_at(tick, index)) << where_[index];
        }
        // Whole words, of which two hold what lies across.
        std::uint64_t expected = 0;
        for (const std::uint64_t place : where_)
            expected += place % 8 == 0 ? 8 : 16;
        std::uint64_t changed = 0;
        const Status status = ring_.changed(3, 4, [&](ChangedRange range) { changed += range.bytes; });
        ASSERT_EQ(status, Status::ok);
        EXPECT_EQ(changed, expected);
    }

    // Pages of zeros are not in it.
    void expect_saved() {
        const auto count = [](void* bytes, std::span<const std::byte> part) noexcept {
            *static_cast<std::uint64_t*>(bytes) += part.size();
            return Status::ok;
        };
        std::uint64_t bytes = 0;
        const auto view = ring_.view(kTicks - 1);
        ASSERT_TRUE(view);
        const auto saved = write_image(*view, {.write = count, .context = &bytes}, ImageCodec::raw);
        ASSERT_TRUE(saved) << status_name(saved.status());
        EXPECT_EQ(saved->state_hash, hashes_[kTicks - 1][0]);
        EXPECT_EQ(saved->bytes, bytes);
        EXPECT_LT(saved->pages, 20U);
        EXPECT_GT(saved->pages, 8U);
    }

    void expect_way_back() {
        ASSERT_TRUE(ring_.rollback(3));
        for (std::size_t index = 0; index < where_.size(); ++index)
            EXPECT_EQ(live_word(ring_, where_[index]), value_at(3, index)) << where_[index];
        const auto before = hashes_;
        for (Tick tick = 4; tick <= kTicks; ++tick)
            run_tick(tick);
        EXPECT_EQ(hashes_, before);
        EXPECT_EQ(ring_.check(), Status::ok);
    }

    StateRing ring_;
    std::vector<std::uint64_t> where_;
    std::array<std::array<std::uint64_t, 2>, kTicks + 1> hashes_{};
};

// In one, for making such a ring takes a while.
TEST_F(LargeImage, IsKeptReadSavedAndRolledBackUpToItsLastByte) {
    EXPECT_EQ(where_.back(), LiveImage::kMaxBytes - 8);
    EXPECT_EQ(ring_.mark(ring_.image().data + ring_.image().size - 4, 8), Status::out_of_range);
    expect_past();
    expect_saved();
    expect_way_back();
}

// As far as 32-bit offsets reach, and not a byte further.
TEST(LargestImage, HasFourGibibytes) {
    const SegmentOptions all{.name = "all", .bytes = LiveImage::kMaxBytes - kSegmentAlignment};
    const auto image = LiveImage::create({.segments = {&all, 1}});
    ASSERT_TRUE(image) << status_name(image.status());
    ASSERT_EQ(image->block().size, LiveImage::kMaxBytes);
    EXPECT_EQ(std::uint64_t{image->page_count()} * kStatePageBytes, LiveImage::kMaxBytes);
    std::byte* const last = image->block().end() - 1;
    *last = std::byte{77};
    EXPECT_EQ(*(image->alias().end() - 1), std::byte{77});
    EXPECT_EQ(OffsetPtr<std::byte>::from_offset(UINT32_MAX).in(image->base()), last);

    const SegmentOptions more{.name = "more", .bytes = LiveImage::kMaxBytes - kSegmentAlignment + 1};
    EXPECT_EQ(LiveImage::create({.segments = {&more, 1}}).status(), Status::size_overflow);
}

// A large bound is paid for when it is used.
TEST(LargeHistory, IsNotTouchedBeforeItIsUsed) {
    const SegmentOptions world{.name = "world", .bytes = kMiB / 4};
    for (const bool packing : {false, true}) {
        const auto ring = StateRing::create({.segments = {&world, 1},
                                             .history_bytes = 8192 * kMiB,
                                             .packing = packing,
                                             .huge_pages = false,
                                             .name = "large"});
        ASSERT_TRUE(ring) << status_name(ring.status());
        std::vector<BlockInfo> blocks(200);
        blocks.resize(std::min(snapshot_blocks(blocks), blocks.size()));
        const auto history = std::ranges::find(blocks, "large: history", &BlockInfo::name);
        ASSERT_NE(history, blocks.end());
        ASSERT_GE(history->committed_bytes, 4096 * kMiB);
        std::vector<unsigned char> resident(static_cast<std::size_t>(history->committed_bytes) /
                                            os::page_size());
        ASSERT_EQ(mincore(reinterpret_cast<void*>(history->base), resident.size() * os::page_size(),
                          resident.data()),
                  0);
        const auto touched =
            std::ranges::count_if(resident, [](unsigned char each) { return each % 2 != 0; });
        // Where the system gives huge pages unasked, each array has one.
        EXPECT_LT(static_cast<std::uint64_t>(touched) * os::page_size(), 48 * kMiB);
    }
}

}  // namespace
}  // namespace ouro
