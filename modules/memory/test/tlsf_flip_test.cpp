// One bit of an image is wrong: check() says so, whichever it is, unless the image means the same without it.
#include "tlsf_image.hpp"
#include "tlsf_script.hpp"

#include <cstdint>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::Status;
using ouro::TlsfHeap;
using ouro::testing_support::read_word;
using ouro::testing_support::TlsfImage;
using ouro::testing_support::TlsfScript;

constexpr std::size_t kBytes = std::size_t{2} << 20;

// A heap after some use, and hands that know how it lies in its image.
class Flips {
public:
    Flips() : heap_(image_.make_heap()), script_(5) {
        script_.run(heap_, image_.memory().data, 3000);
        tags_ = read_word(image_.memory(), 36) * TlsfHeap::kUnit;
        tags_end_ = read_word(image_.memory(), 40) * TlsfHeap::kUnit;
        records_ = read_word(image_.memory(), 32);
        record_count_ = static_cast<std::uint32_t>(tags_ / TlsfHeap::kUnit) - records_;
    }

    [[nodiscard]] const TlsfHeap& heap() const { return heap_; }
    [[nodiscard]] std::size_t tags() const { return tags_; }
    [[nodiscard]] std::size_t tags_end() const { return tags_end_; }

    // Returns whether the flip was one without meaning.
    bool flip_and_check(std::size_t offset, unsigned bit) {
        SCOPED_TRACE("byte " + std::to_string(offset) + ", bit " + std::to_string(bit));
        const bool had_meaning = !is_tag_spare(offset);
        image_.memory().data[offset] ^= static_cast<std::byte>(1U << bit);
        const bool has_meaning = had_meaning || !is_tag_spare(offset);
        EXPECT_EQ(TlsfHeap::check(image_.memory()), has_meaning ? Status::corrupt_data : Status::ok);
        if (!has_meaning) go_on_with_a_copy();
        image_.memory().data[offset] ^= static_cast<std::byte>(1U << bit);
        return !has_meaning;
    }

private:
    // A tag may be there or not where the unit itself says which record it belongs to: the heap writes the
    // one or the other and leaves old ones of the other kind as they are.
    [[nodiscard]] bool is_tag_spare(std::size_t offset) const {
        if (offset < tags_ || offset >= tags_end_) return false;
        const bool is_last = (offset - tags_) / 2 % 2 != 0;
        std::uint16_t tag = 0;
        std::memcpy(&tag, image_.memory().data + offset / 2 * 2, sizeof(tag));
        if (tag == 0) return true;
        if (tag >= record_count_ || word(records_ + tag, kUnits) == 0) return false;
        const std::uint32_t start = word(records_ + tag, kStart);
        const std::uint32_t edge = is_last ? start + word(records_ + tag, kUnits) - 1 : start;
        return edge / kChunkUnits == (offset - tags_) / 4 && word(edge, kStart) == records_ + tag;
    }

    void go_on_with_a_copy() const {
        const TlsfImage copy(kBytes);
        copy.copy_from(image_);
        TlsfScript script = script_;
        TlsfHeap& heap = **TlsfHeap::open(copy.memory());
        script.run(heap, copy.memory().data, 3000);
        EXPECT_EQ(heap.check(), Status::ok);
        script.free_all(heap, copy.memory().data);
        EXPECT_EQ(heap.check(), Status::ok);
        EXPECT_TRUE(heap.is_empty());
    }

    // In a record, and in the unit of an edge the word that names one.
    static constexpr std::size_t kUnits = 8;
    static constexpr std::size_t kStart = 12;
    static constexpr std::uint32_t kChunkUnits = 256;

    [[nodiscard]] std::uint32_t word(std::uint32_t unit, std::size_t offset) const {
        return read_word(image_.memory(), unit * TlsfHeap::kUnit + offset);
    }

    TlsfImage image_{kBytes};
    TlsfHeap& heap_;
    TlsfScript script_;
    std::size_t tags_ = 0;
    std::size_t tags_end_ = 0;
    std::uint32_t records_ = 0;
    std::uint32_t record_count_ = 0;
};

TEST(TlsfFlip, EveryBitOfTheListsAndMarksCounts) {
    Flips flips;
    ASSERT_EQ(flips.heap().check(), Status::ok);
    // Counters at the front may take other values that could be true; everything behind them may not.
    const std::size_t lists = sizeof(TlsfHeap);
    const std::size_t end = TlsfHeap::control_bytes(kBytes);
    ouro::Random random(99);
    for (int i = 0; i < 2000; ++i) {
        const std::size_t offset = lists + random.below(static_cast<std::uint32_t>(end - lists));
        (void)flips.flip_and_check(offset, random.below(8));
        ASSERT_FALSE(testing::Test::HasFailure());
    }
    ASSERT_EQ(flips.heap().check(), Status::ok);
}

TEST(TlsfFlip, EveryBitOfTheTagsCountsWhereTheUnitsDoNotSayTheSame) {
    Flips flips;
    int flipped = 0;
    int without_meaning = 0;
    for (std::size_t offset = flips.tags(); offset < flips.tags_end(); ++offset) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            without_meaning += flips.flip_and_check(offset, bit) ? 1 : 0;
            ++flipped;
            ASSERT_FALSE(testing::Test::HasFailure());
        }
    }
    EXPECT_GT(without_meaning, 0) << "nothing of that kind was tested";
    EXPECT_LT(without_meaning, flipped / 100);
}

// What is left in the last unit of a part belongs to nobody, and is zero.
TEST(TlsfFlip, EveryBitBehindThePartsCounts) {
    for (std::size_t bytes = std::size_t{64} << 10; bytes <= std::size_t{8} << 20; bytes += bytes / 3) {
        SCOPED_TRACE(bytes);
        const TlsfImage image(bytes);
        TlsfHeap& heap = image.make_heap();
        ASSERT_TRUE(heap.allocate(1000));
        const std::size_t heads = read_word(image.memory(), 28) * TlsfHeap::kUnit;
        const std::size_t tags_end = read_word(image.memory(), 40) * TlsfHeap::kUnit;
        const std::size_t marks_end = TlsfHeap::control_bytes(bytes);
        for (const std::size_t end : {heads, tags_end, marks_end}) {
            for (std::size_t offset = end - 4; offset < end; ++offset) {
                image.memory().data[offset] ^= std::byte{0x80};
                EXPECT_EQ(heap.check(), Status::corrupt_data) << offset;
                image.memory().data[offset] ^= std::byte{0x80};
            }
        }
        ASSERT_EQ(heap.check(), Status::ok);
    }
}

}  // namespace
