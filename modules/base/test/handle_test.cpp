#include <ouro/base/handle.hpp>

#include <type_traits>

#include <gtest/gtest.h>

namespace {

struct MeshTag;
struct SoundTag;
using MeshHandle = ouro::Handle<MeshTag>;
using SmallHandle = ouro::Handle<MeshTag, std::uint32_t, 20>;

TEST(Handle, ZeroIsNull) {
    EXPECT_TRUE(MeshHandle().is_null());
    EXPECT_FALSE(MeshHandle());
    EXPECT_EQ(MeshHandle().bits(), 0U);
    EXPECT_FALSE(MeshHandle(0, 1).is_null());
}

TEST(Handle, KeepsIndexAndGeneration) {
    const SmallHandle handle(SmallHandle::kMaxIndex, SmallHandle::kMaxGeneration);
    EXPECT_EQ(handle.index(), 0xFFFFFU);
    EXPECT_EQ(handle.generation(), 0xFFFU);
    EXPECT_EQ(SmallHandle::from_bits(handle.bits()), handle);
}

TEST(Handle, TheNextOccupantIsAnother) {
    const SmallHandle first(3, 1);
    const SmallHandle second(3, SmallHandle::next_generation(first.generation()));
    EXPECT_NE(first, second);
    EXPECT_EQ(first.index(), second.index());
}

TEST(Handle, GenerationsWrapAroundPastZero) {
    EXPECT_EQ(SmallHandle::next_generation(SmallHandle::kMaxGeneration), 1U);
    EXPECT_EQ(SmallHandle::next_generation(0), 1U);
}

TEST(Handle, IsPlainDataAndTypedByItsTable) {
    static_assert(sizeof(SmallHandle) == 4 && sizeof(MeshHandle) == 8);
    static_assert(std::is_trivially_copyable_v<MeshHandle>);
    static_assert(!std::is_convertible_v<MeshHandle, ouro::Handle<SoundTag>>);
    SUCCEED();
}

}  // namespace
