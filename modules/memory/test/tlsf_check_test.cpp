// What check() finds, and that it reads nothing outside the image while it looks.
#include "tlsf_image.hpp"
#include "tlsf_script.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::Status;
using ouro::TlsfHeap;
using ouro::testing_support::TlsfImage;
using ouro::testing_support::TlsfScript;

constexpr std::size_t kBytes = std::size_t{2} << 20;

void write_word(MemoryBlock memory, std::size_t offset, std::uint32_t value) {
    std::memcpy(memory.data + offset, &value, sizeof(value));
}

std::uint32_t read_word(MemoryBlock memory, std::size_t offset) {
    std::uint32_t value = 0;
    std::memcpy(&value, memory.data + offset, sizeof(value));
    return value;
}

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

TEST(TlsfCheck, EveryBitOfTheListsAndMarksCounts) {
    const TlsfImage image(kBytes);
    TlsfHeap& heap = image.make_heap();
    TlsfScript script(5);
    script.run(heap, image.memory().data, 3000);
    ASSERT_EQ(heap.check(), Status::ok);
    // Counters at the front may take other values that could be true; everything behind them may not.
    const std::size_t lists = sizeof(TlsfHeap);
    const std::size_t end = TlsfHeap::control_bytes(kBytes);
    ouro::Random random(99);
    int accepted = 0;
    for (int i = 0; i < 2000; ++i) {
        const std::size_t offset = lists + random.below(static_cast<std::uint32_t>(end - lists));
        const auto bit = static_cast<std::byte>(1U << random.below(8));
        image.memory().data[offset] ^= bit;
        const Status status = TlsfHeap::check(image.memory());
        if (status == Status::ok) {
            // A tag may be there or not where the block itself says the same. Then all goes on as before.
            ++accepted;
            const TlsfImage copy(kBytes);
            copy.copy_from(image);
            TlsfScript same_script = script;
            TlsfHeap& same = **TlsfHeap::open(copy.memory());
            same_script.run(same, copy.memory().data, 3000);
            EXPECT_EQ(same.check(), Status::ok) << "byte " << offset;
            same_script.free_all(same, copy.memory().data);
            EXPECT_EQ(same.check(), Status::ok) << "byte " << offset;
            EXPECT_TRUE(same.is_empty());
        }
        image.memory().data[offset] ^= bit;
    }
    EXPECT_LT(accepted, 10);
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
