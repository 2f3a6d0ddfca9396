#include <ouro/memory/owned.hpp>
#include <ouro/memory/owned_memory_block.hpp>
#include <ouro/memory/stack_allocator.hpp>

#include <cstring>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

namespace {

using ouro::make_owned;
using ouro::make_owned_array;
using ouro::Owned;
using ouro::OwnedArray;
using ouro::OwnedMemoryBlock;
using ouro::StackAllocator;
using ouro::Status;

class OwnedMemory : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(stack_); }
    [[nodiscard]] std::size_t live_blocks() const { return stack_->stats().live_blocks; }

    ouro::Expected<StackAllocator> stack_ = StackAllocator::create({.max_bytes = std::size_t{1} << 20});
};

struct Counted {
    explicit Counted(int& counter) noexcept : alive(counter) { ++alive; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() { --alive; }
    int& alive;
};

template <class T>
constexpr bool kMovesOnly = std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T> &&
                            !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;
static_assert(kMovesOnly<OwnedMemoryBlock> && kMovesOnly<Owned<int>> && kMovesOnly<OwnedArray<int>>);
static_assert(sizeof(Owned<Counted>) == 2 * sizeof(void*));

TEST_F(OwnedMemory, ABlockGoesBackByItself) {
    {
        auto block = OwnedMemoryBlock::allocate(*stack_, 100, 64);
        ASSERT_TRUE(block);
        EXPECT_GE(block->size(), 100U);
        EXPECT_EQ(block->alignment(), 64U);
        EXPECT_EQ(live_blocks(), 1U);
        OwnedMemoryBlock moved = *std::move(block);
        EXPECT_FALSE(*block);
        EXPECT_TRUE(moved);
        EXPECT_EQ(live_blocks(), 1U);
    }
    EXPECT_EQ(live_blocks(), 0U);
    EXPECT_EQ(OwnedMemoryBlock::allocate(*stack_, 0).status(), Status::zero_size);
}

TEST_F(OwnedMemory, AssigningABlockFreesTheOneBefore) {
    auto first = OwnedMemoryBlock::allocate(*stack_, 100);
    ASSERT_TRUE(first);
    OwnedMemoryBlock owner;
    EXPECT_FALSE(owner);
    owner = *std::move(first);
    EXPECT_EQ(live_blocks(), 1U);
    OwnedMemoryBlock& itself = owner;
    owner = std::move(itself);
    EXPECT_EQ(live_blocks(), 1U);
    owner = OwnedMemoryBlock();
    EXPECT_EQ(live_blocks(), 0U);
}

TEST_F(OwnedMemory, ABlockCanBeResizedAndReleased) {
    auto owner = OwnedMemoryBlock::allocate(*stack_, 16);
    ASSERT_TRUE(owner);
    std::memset(owner->data(), 7, 16);
    ASSERT_TRUE(owner->resize(5000));
    EXPECT_GE(owner->bytes().size(), 5000U);
    EXPECT_EQ(owner->bytes()[15], std::byte{7});
    EXPECT_EQ(owner->resize(0).status(), Status::zero_size);
    EXPECT_GE(owner->size(), 5000U);
    const ouro::MemoryBlock block = owner->release();
    EXPECT_FALSE(*owner);
    EXPECT_EQ(live_blocks(), 1U);
    OwnedMemoryBlock again(*stack_, block, owner->alignment());
    again.reset();
    EXPECT_EQ(live_blocks(), 0U);
}

TEST_F(OwnedMemory, AnObjectEndsWithItsOwner) {
    int alive = 0;
    {
        auto made = make_owned<Counted>(*stack_, alive);
        ASSERT_TRUE(made);
        Owned<Counted> owner = *std::move(made);
        EXPECT_EQ(alive, 1);
        EXPECT_EQ(&owner->alive, &alive);
        EXPECT_EQ(&(*owner).alive, &alive);
        Owned<Counted> other;
        EXPECT_FALSE(other);
        other = std::move(owner);
        EXPECT_EQ(owner.get(), nullptr);
        EXPECT_EQ(alive, 1);
    }
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(live_blocks(), 0U);
}

TEST_F(OwnedMemory, AReleasedObjectIsTheCallers) {
    int alive = 0;
    auto made = make_owned<Counted>(*stack_, alive);
    ASSERT_TRUE(made);
    Counted* object = made->release();
    made->reset();
    EXPECT_EQ(alive, 1);
    ouro::Allocator(*stack_).destroy(object);
    EXPECT_EQ(alive, 0);
}

TEST_F(OwnedMemory, AnArrayEndsWithItsOwner) {
    {
        auto made = make_owned_array<int>(*stack_, 10);
        ASSERT_TRUE(made);
        OwnedArray<int> numbers = *std::move(made);
        ASSERT_EQ(numbers.size(), 10U);
        int sum = 0;
        numbers[3] = 5;
        for (const int number : numbers)
            sum += number;
        EXPECT_EQ(sum, 5);
        OwnedArray<int> other;
        other = std::move(numbers);
        EXPECT_FALSE(numbers);
        EXPECT_EQ(other.get().size(), 10U);
        EXPECT_EQ(live_blocks(), 1U);
    }
    EXPECT_EQ(live_blocks(), 0U);
    EXPECT_EQ(make_owned_array<int>(*stack_, 0).status(), Status::zero_size);
    EXPECT_EQ(make_owned_array<int>(*stack_, SIZE_MAX).status(), Status::size_overflow);
}

TEST_F(OwnedMemory, WhatDoesNotFitIsAStatus) {
    struct Large {
        std::byte bytes[std::size_t{2} << 20];
    };
    EXPECT_EQ(make_owned<Large>(*stack_).status(), Status::capacity_exhausted);
    EXPECT_EQ(live_blocks(), 0U);
}

}  // namespace
