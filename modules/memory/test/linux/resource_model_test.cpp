// The model that judges every strategy is judged here: each way in which a resource can be wrong must fail
// it.
#include "resource_model.hpp"

#include <ouro/memory/small_object_allocator.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

namespace {

using ouro::Expected;
using ouro::MemoryBlock;
using ouro::MemoryResource;
using ouro::SmallObjectAllocator;
using ouro::Status;
using ouro::testing_support::ResourceModel;

enum class Mistake : std::uint8_t {
    none,
    writes_into_a_block,
    hands_out_a_block_twice,
    forgets_the_alignment,
    gives_too_little,
    copies_too_little,
    copies_to_another_place,
    fails_with_a_strange_status,
};

// A good heap that makes its mistake once in a while.
class FaultyResource final : public MemoryResource {
public:
    FaultyResource(SmallObjectAllocator& heap, Mistake mistake) : heap_(heap), mistake_(mistake) {}

    Expected<MemoryBlock> allocate(std::size_t size, std::size_t alignment) noexcept override {
        const bool now = ++calls_ % 50 == 0;
        if (now && mistake_ == Mistake::fails_with_a_strange_status) return Status::corrupt_data;
        if (now && mistake_ == Mistake::hands_out_a_block_twice && last_.size >= size) return last_;
        if (now && mistake_ == Mistake::writes_into_a_block && !last_.is_null())
            last_.data[last_.size / 2] ^= std::byte{1};
        auto block = heap_.allocate(size + 64, alignment);
        if (!block) return block;
        if (now && mistake_ == Mistake::forgets_the_alignment) block = block->sub(1, size);
        if (now && mistake_ == Mistake::gives_too_little) block = block->sub(0, size - 1);
        last_ = *block;
        return block;
    }
    void deallocate(MemoryBlock block, std::size_t) noexcept override {
        // Never given back, so that only the mistake does harm.
        if (block.data == last_.data) last_ = {};
    }
    Expected<MemoryBlock> reallocate(MemoryBlock block, std::size_t new_size,
                                     std::size_t alignment) noexcept override {
        const auto moved = heap_.allocate(new_size, alignment);
        if (!moved) return moved;
        std::size_t bytes = std::min(block.size, new_size);
        const std::size_t shift = mistake_ == Mistake::copies_to_another_place && bytes > 16 ? 16 : 0;
        if (mistake_ == Mistake::copies_too_little) --bytes;
        std::memcpy(moved->data + shift, block.data, bytes - shift);
        deallocate(block, alignment);
        return moved;
    }
    bool owns(const void* address) const noexcept override { return heap_.owns(address); }
    ouro::ResourceInfo info() const noexcept override { return heap_.info(); }
    ouro::ResourceStats stats() const noexcept override { return heap_.stats(); }
    Status check() const noexcept override { return heap_.check(); }

private:
    SmallObjectAllocator& heap_;
    Mistake mistake_;
    MemoryBlock last_;
    std::uint64_t calls_ = 0;
};

// How often the model complained, in a run that is stopped at the first.
int complaints_about(Mistake mistake) {
    auto heap = SmallObjectAllocator::create({.max_bytes = std::size_t{64} << 20});
    if (!heap) return -1;
    FaultyResource faulty(*heap, mistake);
    testing::TestPartResultArray results;
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    ResourceModel model(faulty, {.max_size = 500}, 9);
    for (int step = 0; step < 3000 && results.size() == 0; ++step)
        model.step();
    return results.size();
}

class ModelOf : public testing::TestWithParam<Mistake> {};

TEST_P(ModelOf, AFaultyResourceComplains) {
    EXPECT_GT(complaints_about(GetParam()), 0);
}

INSTANTIATE_TEST_SUITE_P(Mistakes, ModelOf,
                         testing::Values(Mistake::writes_into_a_block, Mistake::hands_out_a_block_twice,
                                         Mistake::forgets_the_alignment, Mistake::gives_too_little,
                                         Mistake::copies_too_little, Mistake::copies_to_another_place,
                                         Mistake::fails_with_a_strange_status));

TEST(ModelOfNoMistake, IsSilent) {
    EXPECT_EQ(complaints_about(Mistake::none), 0);
}

}  // namespace
