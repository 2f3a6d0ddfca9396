// What a constructor that throws leaves behind, in a program that has exceptions.
#include <ouro/memory/allocator.hpp>
#include <ouro/memory/owned.hpp>
#include <ouro/memory/stack_allocator.hpp>

#include <stdexcept>
#include <utility>

#include <gtest/gtest.h>

namespace {

using ouro::Allocator;
using ouro::StackAllocator;

struct Fragile {
    Fragile() {
        if (made == fails_at) throw std::runtime_error("no");
        ++made;
    }
    Fragile(const Fragile&) = delete;
    Fragile& operator=(const Fragile&) = delete;
    ~Fragile() { --made; }

    static inline int made = 0;
    static inline int fails_at = -1;
};

static_assert(noexcept(std::declval<Allocator>().make<int>(1)));
static_assert(noexcept(std::declval<Allocator>().make_array<int>(1)));
static_assert(!noexcept(std::declval<Allocator>().make<Fragile>()));

class ThrowingConstructor : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(stack_);
        Fragile::made = 0;
    }
    void TearDown() override {
        EXPECT_EQ(Fragile::made, 0);
        EXPECT_EQ(stack_->used_bytes(), 0U);
        EXPECT_EQ(stack_->stats().live_blocks, 0U);
    }

    ouro::Expected<StackAllocator> stack_ = StackAllocator::create({.max_bytes = std::size_t{1} << 20});
};

TEST_F(ThrowingConstructor, ReturnsTheMemoryOfAnObject) {
    Fragile::fails_at = 0;
    EXPECT_THROW((void)Allocator(*stack_).make<Fragile>(), std::runtime_error);
    EXPECT_THROW((void)ouro::make_owned<Fragile>(*stack_), std::runtime_error);
}

TEST_F(ThrowingConstructor, EndsTheObjectsOfAnArrayThatWereMade) {
    for (int failing = 0; failing < 5; ++failing) {
        SCOPED_TRACE(failing);
        Fragile::fails_at = failing;
        EXPECT_THROW((void)Allocator(*stack_).make_array<Fragile>(5), std::runtime_error);
        EXPECT_THROW((void)ouro::make_owned_array<Fragile>(*stack_, 5), std::runtime_error);
        EXPECT_EQ(Fragile::made, 0);
    }
    Fragile::fails_at = 5;
    const auto all = ouro::make_owned_array<Fragile>(*stack_, 5);
    ASSERT_TRUE(all);
    EXPECT_EQ(Fragile::made, 5);
}

}  // namespace
