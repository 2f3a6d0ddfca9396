// A heap with a barrier: every byte that a call changes was declared before, and what is declared is little.
#include "tlsf_image.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/detail/tlsf_operations.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::Status;
using ouro::TlsfHeap;
using ouro::testing_support::TlsfImage;

// Exactly which bytes were declared since the last look.
class Declared {
public:
    explicit Declared(MemoryBlock image) : image_(image), copy_(image.begin(), image.end()) {}

    void add(const void* address, std::size_t bytes) {
        const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - image_.data);
        ASSERT_LE(offset + bytes, image_.size);
        ranges_.emplace_back(offset, bytes);
    }

    // Brings the declared bytes of the copy up to date: then it must be equal. Returns how many there were.
    std::size_t look() {
        std::size_t declared = 0;
        for (const auto& [offset, bytes] : ranges_) {
            std::memcpy(copy_.data() + offset, image_.data + offset, bytes);
            declared += bytes;
        }
        ranges_.clear();
        EXPECT_EQ(std::memcmp(copy_.data(), image_.data, image_.size), 0) << "a write was not declared";
        return declared;
    }

private:
    MemoryBlock image_;
    std::vector<std::byte> copy_;
    std::vector<std::pair<std::size_t, std::size_t>> ranges_;
};

struct Barrier {
    Declared* declared;

    void declare(const void* address, std::size_t bytes) const { declared->add(address, bytes); }
    void clear(std::byte* address, std::size_t bytes) const {
        declare(address, bytes);
        std::memset(address, 0, bytes);
    }
};

class BarrierRun {
public:
    BarrierRun(std::size_t image_bytes, std::uint64_t seed)
        : image_(image_bytes), declared_(image_.memory()), random_(seed) {
        const auto made = TlsfHeap::create_in(Barrier{&declared_}, image_.memory(), image_bytes);
        heap_ = made.value_or(nullptr);
        declared_.look();
    }

    void run(int steps) {
        ASSERT_NE(heap_, nullptr);
        for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
            step();
            declared_.look();
        }
        EXPECT_EQ(heap_->check(), Status::ok);
    }

    [[nodiscard]] const TlsfHeap& heap() const { return *heap_; }
    [[nodiscard]] int refused() const { return refused_; }

private:
    std::size_t any_size() {
        const std::uint32_t kind = random_.below(10);
        return 1 + random_.below(kind < 6 ? 500U : kind < 9 ? 4000U : 40'000U);
    }

    void step() {
        const std::uint32_t choice = random_.below(100);
        if (blocks_.empty() || choice < (is_filling_ ? 60U : 35U)) return add();
        const std::uint32_t which = random_.below(static_cast<std::uint32_t>(blocks_.size()));
        if (choice < 80) {
            heap_->deallocate(Barrier{&declared_}, blocks_[which]);
            blocks_[which] = blocks_.back();
            blocks_.pop_back();
            if (blocks_.size() < 20) is_filling_ = true;
            return;
        }
        if (const auto moved = heap_->reallocate(Barrier{&declared_}, blocks_[which], any_size(), 16))
            blocks_[which] = *moved;
        else
            ++refused_;
    }

    void add() {
        const std::size_t alignment = random_.below(8) == 0 ? std::size_t{1} << random_.below(12) : 16;
        const auto block = heap_->allocate(Barrier{&declared_}, any_size(), alignment);
        if (!block) {
            EXPECT_EQ(block.status(), Status::capacity_exhausted);
            is_filling_ = false;
            ++refused_;
            return;
        }
        // The user's own write.
        declared_.add(block->data, block->size);
        std::memset(block->data, static_cast<int>(random_.below(256)), block->size);
        blocks_.push_back(*block);
    }

    TlsfImage image_;
    Declared declared_;
    ouro::Random random_;
    TlsfHeap* heap_ = nullptr;
    std::vector<MemoryBlock> blocks_;
    bool is_filling_ = true;
    int refused_ = 0;
};

TEST(TlsfBarrier, EveryWriteIsDeclaredByteForByte) {
    int refused = 0;
    // The largest has several zones.
    for (const std::size_t image_bytes :
         {std::size_t{96} << 10, std::size_t{512} << 10, std::size_t{5} << 20}) {
        SCOPED_TRACE("image of " + std::to_string(image_bytes) + " bytes, seed 11");
        BarrierRun run(image_bytes, 11);
        run.run(image_bytes > (std::size_t{1} << 20) ? 3'000 : 20'000);
        const auto stats = run.heap().stats();
        refused += run.refused();
        EXPECT_GT(stats.grown_in_place, 0U);
        EXPECT_GT(stats.slid_down, 0U);
        EXPECT_GT(stats.moved, 0U);
        if (HasFailure()) return;
    }
    EXPECT_GT(refused, 0) << "never full: refusals were not tested";
}

TEST(TlsfBarrier, ASmallBlockDeclaresLittle) {
    const TlsfImage image(std::size_t{1} << 20);
    Declared declared(image.memory());
    const Barrier barrier{&declared};
    const auto made = TlsfHeap::create_in(barrier, image.memory(), image.memory().size);
    ASSERT_TRUE(made);
    declared.look();
    const auto block = (*made)->allocate(barrier, 64, 16);
    ASSERT_TRUE(block);
    EXPECT_LE(declared.look(), sizeof(TlsfHeap) + 200);
    (*made)->deallocate(barrier, *block);
    EXPECT_LE(declared.look(), sizeof(TlsfHeap) + 16) << "kept for the next of its size";
}

// The barrier changes nothing of what the heap does.
TEST(TlsfBarrier, LeavesTheSameBytesAsAHeapWithoutOne) {
    const TlsfImage plain_image(std::size_t{256} << 10);
    const TlsfImage image(std::size_t{256} << 10);
    TlsfHeap& plain = plain_image.make_heap();
    Declared declared(image.memory());
    const Barrier barrier{&declared};
    TlsfHeap& heap = **TlsfHeap::create_in(barrier, image.memory(), image.memory().size);
    std::vector<std::pair<MemoryBlock, MemoryBlock>> blocks;
    ouro::Random random(8);
    for (int i = 0; i < 5'000; ++i) {
        if (random.below(2) == 0 || blocks.empty()) {
            const std::size_t size = 1 + random.below(3000);
            const auto a = plain.allocate(size, 16);
            const auto b = heap.allocate(barrier, size, 16);
            ASSERT_EQ(a.status(), b.status());
            if (a) blocks.emplace_back(*a, *b);
        } else {
            const std::uint32_t which = random.below(static_cast<std::uint32_t>(blocks.size()));
            plain.deallocate(blocks[which].first);
            heap.deallocate(barrier, blocks[which].second);
            blocks[which] = blocks.back();
            blocks.pop_back();
        }
    }
    EXPECT_EQ(std::memcmp(plain_image.memory().data, image.memory().data, image.memory().size), 0);
}

}  // namespace
