// What check() finds, and that it reads nothing outside the image while it looks.
#include "tlsf_image.hpp"
#include "tlsf_script.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::Status;
using ouro::TlsfHeap;
using ouro::testing_support::read_word;
using ouro::testing_support::TlsfImage;
using ouro::testing_support::TlsfScript;
using ouro::testing_support::write_word;

constexpr std::size_t kBytes = std::size_t{2} << 20;

// Blocks with used ones between: those at odd places are free, so many that the table of records is full.
std::vector<MemoryBlock> fill_the_table(TlsfHeap& heap) {
    std::vector<MemoryBlock> blocks;
    for (int i = 0; i < 1400; ++i)
        blocks.push_back(*heap.allocate(1024));
    for (std::size_t i = 1; i < blocks.size(); i += 2)
        heap.deallocate(blocks[i]);
    return blocks;
}

TEST(TlsfCheck, EveryWordOfABlockThatIsItsOwnRecordCounts) {
    const TlsfImage image(kBytes);
    TlsfHeap& heap = image.make_heap();
    const std::vector<MemoryBlock> blocks = fill_the_table(heap);
    ASSERT_EQ(heap.check(), Status::ok);
    // Neither the last one, which lies before free memory, nor the head of the list: all links mean
    // something.
    const auto start = static_cast<std::size_t>(blocks[blocks.size() - 5].data - image.memory().data);
    ASSERT_EQ(read_word(image.memory(), start + 12), start / TlsfHeap::kUnit);
    for (const std::size_t word : {0U, 4U, 8U, 12U, 1020U}) {
        const std::uint32_t right = read_word(image.memory(), start + word);
        for (const std::uint32_t wrong : {right + 1, right ^ 0x80000000U, 0xFFFFFFFFU, right - 1}) {
            write_word(image.memory(), start + word, wrong);
            EXPECT_EQ(heap.check(), Status::corrupt_data) << "word " << word << " = " << wrong;
        }
        write_word(image.memory(), start + word, right);
        ASSERT_EQ(heap.check(), Status::ok);
    }
}

TEST(TlsfCheck, EveryWordOfTheTableCounts) {
    const TlsfImage image(kBytes);
    TlsfHeap& heap = image.make_heap();
    const std::vector<MemoryBlock> blocks = fill_the_table(heap);
    // Free again are the first of the table and those of the last blocks; the first free block keeps its own.
    for (std::size_t i = 3; i < 100; i += 2)
        ASSERT_TRUE(heap.allocate(1024));
    ASSERT_EQ(heap.check(), Status::ok);
    const std::size_t end = TlsfHeap::control_bytes(kBytes);
    int words = 0;
    for (std::size_t offset = sizeof(TlsfHeap); offset < end; offset += 4) {
        const std::uint32_t right = read_word(image.memory(), offset);
        if (right == 0) continue;
        ++words;
        for (const std::uint32_t wrong : {right + 1, right ^ 0x80000000U, 0U}) {
            write_word(image.memory(), offset, wrong);
            EXPECT_EQ(heap.check(), Status::corrupt_data) << "offset " << offset << " = " << wrong;
        }
        write_word(image.memory(), offset, right);
    }
    EXPECT_GT(words, 1000);
    ASSERT_EQ(heap.check(), Status::ok);
}

TEST(TlsfCheck, DamagedImagesNeverLeadOutside) {
    // The heap ends where its memory ends, so that the sanitizers see a step behind it.
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const TlsfImage image(kBytes);
        TlsfHeap& heap = image.make_heap();
        TlsfScript script(seed);
        script.run(heap, image.memory().data, 500);
        ouro::Random random(seed);
        for (int i = 0; i < 20; ++i) {
            std::vector<std::byte> copy(image.memory().begin(), image.memory().end());
            const MemoryBlock damaged{copy.data(), copy.size()};
            const std::size_t reach = i % 2 == 0 ? sizeof(TlsfHeap) : kBytes;
            for (std::uint32_t word = 0; word <= random.below(8); ++word) {
                const std::size_t offset = random.below(static_cast<std::uint32_t>(reach / 4)) * 4;
                write_word(damaged, offset, static_cast<std::uint32_t>(random.next()));
            }
            const auto opened = TlsfHeap::open(damaged);
            // A value that could be true is accepted; then the heap is one that check() stands for.
            ASSERT_TRUE(!opened || (*opened)->check() == Status::ok);
        }
    }
}

std::size_t offset_of_kept_head(MemoryBlock memory, MemoryBlock kept) {
    const auto unit = static_cast<std::uint32_t>((kept.data - memory.data) / std::ptrdiff_t{TlsfHeap::kUnit});
    std::size_t offset = 0;
    while (offset < sizeof(TlsfHeap) && read_word(memory, offset) != unit)
        offset += 4;
    return offset;
}

TEST(TlsfCheck, AKeptBlockInsideAFreeOneIsFound) {
    const TlsfImage image(kBytes);
    TlsfHeap& heap = image.make_heap();
    ASSERT_TRUE(heap.allocate(160));
    const MemoryBlock kept = *heap.allocate(16);
    heap.deallocate(kept);
    ASSERT_EQ(heap.check(), Status::ok);
    const std::size_t head = offset_of_kept_head(image.memory(), kept);
    ASSERT_LT(head, sizeof(TlsfHeap));
    const std::uint32_t right = read_word(image.memory(), head);
    // Its first unit, those behind it, and its last.
    for (const std::uint32_t wrong :
         {right + 1, right + 2, right + 2000, static_cast<std::uint32_t>(kBytes / TlsfHeap::kUnit - 1)}) {
        write_word(image.memory(), head, wrong);
        EXPECT_EQ(TlsfHeap::open(image.memory()).status(), Status::corrupt_data) << wrong;
    }
    write_word(image.memory(), head, right);
    EXPECT_EQ(heap.check(), Status::ok);
}

TEST(TlsfCheck, KeptBlocksThatShareAUnitAreFound) {
    const TlsfImage image(kBytes);
    TlsfHeap& heap = image.make_heap();
    const MemoryBlock three = *heap.allocate(48);
    const MemoryBlock two = *heap.allocate(32);
    const MemoryBlock live = *heap.allocate(160);
    heap.deallocate(three);
    heap.deallocate(two);
    ASSERT_EQ(heap.check(), Status::ok);
    const std::size_t head = offset_of_kept_head(image.memory(), two);
    ASSERT_LT(head, sizeof(TlsfHeap));
    const std::uint32_t right = read_word(image.memory(), head);
    for (const std::uint32_t shift : {1U, 2U, 3U}) {
        write_word(image.memory(), head, right - shift);
        EXPECT_EQ(TlsfHeap::open(image.memory()).status(), Status::corrupt_data) << shift;
    }
    write_word(image.memory(), head, right);
    EXPECT_EQ(heap.check(), Status::ok);
    heap.deallocate(live);
}

// An image with a free block, a live one and a free one, and hands that know how a heap lies in it. The
// blocks are so large that no two ends of a kind share a tag.
class Forgery {
public:
    static constexpr std::uint32_t kBridge = 302;

    Forgery() : heap_(image_.make_heap()) {
        const MemoryBlock before = take(400);
        const MemoryBlock live = take(kBridge - 2);
        const MemoryBlock behind = take(500);
        static_cast<void>(take(400));
        const MemoryBlock alone = take(kBridge);
        static_cast<void>(take(400));
        for (const MemoryBlock block : {before, behind, alone})
            heap_.deallocate(block);
        from_ = unit_of(live) - 1;
        to_ = unit_of(behind);
        alone_ = unit_of(alone);
        tabled_ = header(kRecords);
        while (word(tabled_, kStart) != alone_)
            ++tabled_;
    }

    [[nodiscard]] Status check() const { return TlsfHeap::open(image_.memory()).status(); }

    // The block that stands alone becomes its own record, in a list of its own.
    void hide_the_block_alone() {
        set_record(alone_, {alone_, alone_, kBridge, alone_});
        set(alone_ + kBridge - 1, kStart, alone_);
        set_tag(alone_, 0, 0);
        set_tag(alone_ + kBridge - 1, 1, 0);
    }
    // Its place in the list and the table goes to one over the live block and an end of both its neighbours.
    void list_a_bridge_in_the_table() {
        set(tabled_, kStart, from_);
        const auto tag = static_cast<std::uint16_t>(tabled_ - header(kRecords));
        set_tag(from_, 0, tag);
        set_tag(to_, 1, tag);
    }
    void leave_a_bridge_in_free_memory() {
        set_record(from_, {0, 0, kBridge, from_});
        set(to_, kStart, from_);
    }
    void list_the_bridge_in_free_memory() {
        std::size_t head = std::size_t{header(kHeads)} * TlsfHeap::kUnit;
        while (read_word(image_.memory(), head) != tabled_)
            head += 4;
        write_word(image_.memory(), head, from_);
        set_record(tabled_, {header(kUnused), 0, 0, 0});
        write_word(image_.memory(), kUnused, tabled_);
    }

private:
    static constexpr std::size_t kStart = 12;
    // Where the heap says where its parts lie.
    static constexpr std::size_t kHeads = 28;
    static constexpr std::size_t kRecords = 32;
    static constexpr std::size_t kTags = 36;
    static constexpr std::size_t kUnused = 76;

    MemoryBlock take(std::uint32_t units) { return *heap_.allocate(units * TlsfHeap::kUnit); }
    [[nodiscard]] std::uint32_t unit_of(MemoryBlock block) const {
        return static_cast<std::uint32_t>(static_cast<std::size_t>(block.data - image_.memory().data) /
                                          TlsfHeap::kUnit);
    }
    [[nodiscard]] std::uint32_t header(std::size_t offset) const {
        return read_word(image_.memory(), offset);
    }
    [[nodiscard]] std::uint32_t word(std::uint32_t unit, std::size_t offset) const {
        return read_word(image_.memory(), unit * TlsfHeap::kUnit + offset);
    }
    void set(std::uint32_t unit, std::size_t offset, std::uint32_t value) const {
        write_word(image_.memory(), unit * TlsfHeap::kUnit + offset, value);
    }
    void set_record(std::uint32_t unit, const std::array<std::uint32_t, 4>& words) const {
        for (std::size_t i = 0; i < words.size(); ++i)
            set(unit, i * 4, words[i]);
    }
    void set_tag(std::uint32_t unit, std::size_t which, std::uint16_t value) const {
        const std::size_t tags = std::size_t{header(kTags)} * TlsfHeap::kUnit;
        std::memcpy(image_.memory().data + tags + unit / 256 * 4 + which * 2, &value, sizeof(value));
    }

    TlsfImage image_{std::size_t{1} << 20};
    TlsfHeap& heap_;
    std::uint32_t from_ = 0;
    std::uint32_t to_ = 0;
    std::uint32_t alone_ = 0;
    std::uint32_t tabled_ = 0;
};

TEST(TlsfCheck, AListedBlockFromTheEndOfOneToTheStartOfAnotherIsFound) {
    Forgery tabled;
    ASSERT_EQ(tabled.check(), Status::ok);
    tabled.hide_the_block_alone();
    tabled.list_a_bridge_in_the_table();
    EXPECT_EQ(tabled.check(), Status::corrupt_data);

    Forgery own_record;
    own_record.hide_the_block_alone();
    own_record.leave_a_bridge_in_free_memory();
    own_record.list_the_bridge_in_free_memory();
    EXPECT_EQ(own_record.check(), Status::corrupt_data);
}

TEST(TlsfCheck, WhatIsLeftOfARecordInFreeMemoryDoesNoHarm) {
    Forgery rest;
    rest.leave_a_bridge_in_free_memory();
    EXPECT_EQ(rest.check(), Status::ok);
}

TEST(TlsfCheck, AnImageCutShortIsToldAsSuch) {
    const TlsfImage image(kBytes);
    TlsfHeap& heap = image.make_heap();
    ASSERT_TRUE(heap.allocate(100'000));
    for (const std::size_t bytes :
         {std::size_t{0}, std::size_t{8}, sizeof(TlsfHeap), kBytes / 2, kBytes - 16})
        EXPECT_EQ(TlsfHeap::check({image.memory().data, bytes}), Status::corrupt_data) << bytes;
    EXPECT_EQ(TlsfHeap::check(image.memory()), Status::ok);
}

}  // namespace
