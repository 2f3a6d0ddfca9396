#include <ouro/memory/allocator.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::Allocator;
using ouro::AllocatorScope;
using ouro::FrameAllocator;
using ouro::StackAllocator;
using ouro::Status;

constexpr std::size_t kBytes = std::size_t{1} << 20;

// Writes down in which order objects of it end.
struct Noted {
    std::vector<int>* ended = nullptr;
    int number = 0;

    Noted() noexcept = default;
    Noted(std::vector<int>& list, int value) noexcept : ended(&list), number(value) {}
    Noted(const Noted&) = delete;
    Noted& operator=(const Noted&) = delete;
    ~Noted() {
        if (ended != nullptr) ended->push_back(number);
    }
};

struct alignas(256) OverAligned {
    std::array<std::uint8_t, 256> bytes{};
};

// Has what every resource must have, and nothing that is optional.
class PlainResource final : public ouro::MemoryResource {
public:
    explicit PlainResource(ouro::MemoryResource& upstream) noexcept : upstream_(upstream) {}
    [[nodiscard]] ouro::Expected<ouro::MemoryBlock> allocate(std::size_t size,
                                                             std::size_t alignment) noexcept override {
        return upstream_.allocate(size, alignment);
    }
    void deallocate(ouro::MemoryBlock block, std::size_t alignment) noexcept override {
        upstream_.deallocate(block, alignment);
    }
    [[nodiscard]] ouro::Expected<ouro::MemoryBlock> reallocate(ouro::MemoryBlock block, std::size_t new_size,
                                                               std::size_t alignment) noexcept override {
        return upstream_.reallocate(block, new_size, alignment);
    }
    [[nodiscard]] bool owns(const void* address) const noexcept override { return upstream_.owns(address); }
    [[nodiscard]] ouro::ResourceInfo info() const noexcept override { return {.name = "plain"}; }
    [[nodiscard]] ouro::ResourceStats stats() const noexcept override { return upstream_.stats(); }
    [[nodiscard]] Status check() const noexcept override { return upstream_.check(); }

private:
    ouro::MemoryResource& upstream_;
};

TEST(Allocator, IsAValueThatComparesItsResource) {
    static_assert(std::is_trivially_copyable_v<Allocator> && sizeof(Allocator) == sizeof(void*));
    auto one = FrameAllocator::create({.name = "one", .max_bytes = kBytes});
    auto other = FrameAllocator::create({.max_bytes = kBytes});
    ASSERT_TRUE(one && other);
    const Allocator memory = *one;
    const Allocator copy = memory;
    EXPECT_TRUE(copy == memory);
    EXPECT_FALSE(memory == Allocator(*other));
    EXPECT_EQ(memory.info().name, "one");
    EXPECT_TRUE(memory.info().size_classes.empty());
    EXPECT_EQ(&copy.resource(), &*one);
}

TEST(Allocator, MakesAndEndsObjects) {
    auto stack = StackAllocator::create({.max_bytes = kBytes});
    ASSERT_TRUE(stack);
    const Allocator memory = *stack;
    std::vector<int> ended;
    const auto first = memory.make<Noted>(ended, 1);
    const auto second = memory.make<const Noted>(ended, 2);
    ASSERT_TRUE(first && second);
    EXPECT_EQ((*first)->number, 1);
    memory.destroy(*second);
    memory.destroy(*first);
    memory.destroy(static_cast<Noted*>(nullptr));
    EXPECT_EQ(ended, (std::vector<int>{2, 1}));
    EXPECT_EQ(stack->stats().live_blocks, 0U);
    EXPECT_EQ(stack->used_bytes(), 0U);
}

TEST(Allocator, MakesAggregatesAndWhatOnlyMoves) {
    struct Point {
        float x;
        float y;
    };
    struct MovesOnly {
        explicit MovesOnly(int start) noexcept : value(start) {}
        MovesOnly(MovesOnly&& other) noexcept : value(std::exchange(other.value, 0)) {}
        int value;
    };
    auto frame = FrameAllocator::create({.max_bytes = kBytes});
    ASSERT_TRUE(frame);
    const Allocator memory = *frame;
    const auto point = memory.make<Point>(1.0F, 2.0F);
    ASSERT_TRUE(point);
    EXPECT_EQ((*point)->y, 2.0F);
    MovesOnly from(5);
    const auto moved = memory.make<MovesOnly>(std::move(from));
    ASSERT_TRUE(moved);
    EXPECT_EQ((*moved)->value, 5);
    EXPECT_EQ(from.value, 0);
}

TEST(Allocator, AnArrayIsZeroAndEndsBackwards) {
    auto stack = StackAllocator::create({.max_bytes = kBytes});
    ASSERT_TRUE(stack);
    const Allocator memory = *stack;
    const auto dirt = memory.allocate(4000);
    ASSERT_TRUE(dirt);
    std::memset(dirt->data, 0xAB, dirt->size);
    memory.deallocate(*dirt);
    const auto numbers = memory.make_array<std::uint32_t>(1000);
    ASSERT_TRUE(numbers);
    for (const std::uint32_t number : *numbers)
        ASSERT_EQ(number, 0U);
    memory.destroy_array(*numbers);

    std::vector<int> ended;
    const auto objects = memory.make_array<Noted>(3);
    ASSERT_TRUE(objects);
    for (int i = 0; i < 3; ++i) {
        (*objects)[static_cast<std::size_t>(i)].ended = &ended;
        (*objects)[static_cast<std::size_t>(i)].number = i;
    }
    memory.destroy_array(*objects);
    memory.destroy_array(std::span<Noted>());
    EXPECT_EQ(ended, (std::vector<int>{2, 1, 0}));
    EXPECT_EQ(stack->used_bytes(), 0U);
}

TEST(Allocator, ArraysOfNothingOrTooMuchAreRefused) {
    auto frame = FrameAllocator::create({.max_bytes = kBytes});
    ASSERT_TRUE(frame);
    const Allocator memory = *frame;
    EXPECT_EQ(memory.make_array<int>(0).status(), Status::zero_size);
    EXPECT_EQ(memory.make_array<std::uint64_t>(SIZE_MAX / 8 + 1).status(), Status::size_overflow);
    EXPECT_EQ(memory.make_array<std::uint64_t>(kBytes).status(), Status::capacity_exhausted);
    using TooLarge = std::array<char, 2 * kBytes>;
    EXPECT_EQ(memory.make<TooLarge>().status(), Status::capacity_exhausted);
    EXPECT_EQ(frame->used_bytes(), 0U);
}

TEST(Allocator, KeepsTheAlignmentOfATypeAtBothEnds) {
    auto stack = StackAllocator::create({.max_bytes = kBytes});
    ASSERT_TRUE(stack);
    const Allocator memory = *stack;
    const auto small = memory.make<char>('a');
    const auto large = memory.make<OverAligned>();
    const auto many = memory.make_array<OverAligned>(3);
    ASSERT_TRUE(small && large && many);
    EXPECT_TRUE(ouro::is_aligned(*large, 256));
    EXPECT_TRUE(ouro::is_aligned(many->data(), 256));
    memory.destroy_array(*many);
    memory.destroy(*large);
    memory.destroy(*small);
    EXPECT_EQ(stack->used_bytes(), 0U);
    EXPECT_EQ(stack->check(), Status::ok);
}

TEST(Allocator, AFrameResizesInPlaceOrNotAtAll) {
    auto frame = FrameAllocator::create({.max_bytes = kBytes});
    ASSERT_TRUE(frame);
    const Allocator memory = *frame;
    const auto older = memory.allocate(100);
    const auto newest = memory.allocate(100);
    ASSERT_TRUE(older && newest);
    EXPECT_EQ(memory.try_reallocate(*older, 101).status(), Status::capacity_exhausted);
    EXPECT_EQ(*memory.try_reallocate(*older, 50), (ouro::MemoryBlock{older->data, 50}));
    EXPECT_EQ(memory.try_reallocate(*newest, 0).status(), Status::zero_size);
    EXPECT_EQ(memory.try_reallocate(*newest, 50, 3).status(), Status::bad_alignment);
    EXPECT_EQ(memory.try_reallocate(*newest, 2 * kBytes).status(), Status::capacity_exhausted);
    const auto grown = memory.try_reallocate(*newest, 5000);
    ASSERT_TRUE(grown);
    EXPECT_EQ(*grown, (ouro::MemoryBlock{newest->data, 5000}));
    EXPECT_EQ(frame->check(), Status::ok);
}

TEST(Allocator, AStackResizesInPlaceOrNotAtAll) {
    auto stack = StackAllocator::create({.max_bytes = kBytes});
    ASSERT_TRUE(stack);
    const Allocator memory = *stack;
    const auto older = memory.allocate(100);
    const auto newest = memory.allocate(100, 64);
    ASSERT_TRUE(older && newest);
    EXPECT_EQ(memory.try_reallocate(*older, older->size + 1).status(), Status::capacity_exhausted);
    // It could not be given back with a size of its own that is smaller than its place.
    EXPECT_EQ(memory.try_reallocate(*older, 1).status(), Status::capacity_exhausted);
    const auto kept = memory.try_reallocate(*older, 99);
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->data, older->data);
    EXPECT_GE(kept->size, 99U);
    const auto grown = memory.try_reallocate(*newest, 5000, 64);
    ASSERT_TRUE(grown);
    EXPECT_EQ(grown->data, newest->data);
    EXPECT_GE(grown->size, 5000U);
    EXPECT_EQ(memory.try_reallocate(*grown, SIZE_MAX, 64).status(), Status::size_overflow);
    memory.deallocate(*grown, 64);
    // The older one can still go: its end is where the stack expects it.
    memory.deallocate(*kept);
    EXPECT_EQ(stack->used_bytes(), 0U);
}

TEST(Allocator, ScopesFreeWhateverTheResourceIs) {
    auto frame = FrameAllocator::create({.max_bytes = kBytes});
    auto stack = StackAllocator::create({.max_bytes = kBytes});
    ASSERT_TRUE(frame && stack);
    const std::array<Allocator, 2> both{*frame, *stack};
    for (const Allocator memory : both) {
        ASSERT_TRUE(memory.allocate(64));
        const std::size_t before = memory.resource().stats().live_bytes;
        const std::size_t blocks_before = memory.resource().stats().live_blocks;
        {
            auto outer = AllocatorScope::open(memory);
            ASSERT_TRUE(outer);
            ASSERT_TRUE(memory.allocate(1000));
            {
                const auto inner = AllocatorScope::open(memory);
                ASSERT_TRUE(inner);
                ASSERT_TRUE(memory.allocate(1000, 128));
            }
            EXPECT_LT(memory.resource().stats().live_bytes, before + 1100);
            const AllocatorScope moved = *std::move(outer);
        }
        EXPECT_EQ(memory.resource().stats().live_bytes, before);
        EXPECT_EQ(memory.resource().stats().live_blocks, blocks_before);
    }
}

TEST(Allocator, WhatAResourceDoesNotOfferIsAStatus) {
    auto frame = FrameAllocator::create({.max_bytes = kBytes});
    ASSERT_TRUE(frame);
    PlainResource plain(*frame);
    const Allocator memory = plain;
    EXPECT_EQ(AllocatorScope::open(memory).status(), Status::not_supported);
    const auto block = memory.allocate(100);
    ASSERT_TRUE(block);
    EXPECT_EQ(memory.try_reallocate(*block, 50).status(), Status::not_supported);
    EXPECT_TRUE(memory.reallocate(*block, 200));
}

}  // namespace
