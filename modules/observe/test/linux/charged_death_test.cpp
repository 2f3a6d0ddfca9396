#include "fresh_tags.hpp"

#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/observe/charged_allocator.hpp>
#include <ouro/observe/default_tags.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>

namespace ouro {
namespace {

class ChargedAllocatorDeath : public testing::Test {
protected:
    MemoryBlock take_zeros(MemoryResource& from) {
        const MemoryBlock block = *from.allocate(100, kDefaultAlignment);
        std::memset(block.data, 0, block.size);
        return block;
    }

    SmallObjectAllocator heap_ = *SmallObjectAllocator::create({.name = "death"});
    ChargedAllocator<SmallObjectAllocator> memory_{heap_};
};

TEST_F(ChargedAllocatorDeath, AnotherSizeIsNoticedEvenAmongZeros) {
    const MemoryBlock block = take_zeros(memory_);
    char where[64];
    std::snprintf(where, sizeof where, "with this size.*: %p of 50 bytes in 'death'",
                  static_cast<void*>(block.data));
    EXPECT_DEATH(memory_.deallocate({block.data, 50}), where);
    memory_.deallocate(block);
}

TEST_F(ChargedAllocatorDeath, ABlockOfTheResourceBelowIsNoticed) {
    const MemoryBlock block = take_zeros(heap_);
    const TagScope scope(default_tags().audio);
    EXPECT_DEATH(memory_.deallocate({block.data, 64}),
                 "not a block of a ChargedAllocator.* of 64 bytes in 'death', under the tag 'audio'");
    heap_.deallocate(block);
}

#if OURO_ASSERT_LEVEL >= 1
TEST_F(ChargedAllocatorDeath, ASecondFreeIsNoticed) {
    // Where free memory is poisoned, the poison is met first.
    EXPECT_DEATH(
        {
            const MemoryBlock block = take_zeros(memory_);
            memory_.deallocate(block);
            memory_.deallocate(block);
        },
        "freed twice: 0x[0-9a-f]+ of 100 bytes in 'death'|use-after-poison");
}
#endif

// In a process of its own: the default tags are made once.
TEST(DefaultTagsProcess, AreTheProgramsOwnWhereItHasThem) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto check = [] {
        const Tag own = *register_tag("creatures");
        const bool is_own = default_tags().creatures == own && tag_parent(own) == Tag{};
        const bool others_stand = tag_parent(default_tags().world) == default_tags().game;
        std::exit(is_own && others_stand ? 0 : 1);
    };
    EXPECT_EXIT(check(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace ouro
