#include <ouro/base/offset_ptr.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <gtest/gtest.h>

namespace {

using ouro::ConstOffsetBase;
using ouro::OffsetBase;
using ouro::OffsetPtr;

struct Node {
    std::uint32_t value;
    OffsetPtr<Node> next;
};

struct Image {
    alignas(8) std::byte bytes[256] = {};

    OffsetBase base() noexcept { return {bytes, sizeof(bytes)}; }
    Node* node_at(std::size_t offset) noexcept { return reinterpret_cast<Node*>(bytes + offset); }
};

TEST(OffsetPtr, ZeroIsNull) {
    Image image;
    EXPECT_TRUE(OffsetPtr<Node>().is_null());
    EXPECT_TRUE(OffsetPtr<Node>().in(image.base()) == nullptr);
    EXPECT_TRUE(OffsetPtr<Node>::to(nullptr, image.base()).is_null());
}

TEST(OffsetPtr, ResolvesThroughTheBaseItIsGiven) {
    Image first;
    Node* head = first.node_at(8);
    head->value = 1;
    head->next = OffsetPtr<Node>::to(first.node_at(64), first.base());
    first.node_at(64)->value = 2;

    Image second;
    std::memcpy(second.bytes, first.bytes, sizeof(first.bytes));
    second.node_at(64)->value = 3;

    EXPECT_EQ(head->next.offset(), 64U);
    EXPECT_EQ(head->next.in(first.base())->value, 2U);
    EXPECT_EQ(head->next.in(second.base())->value, 3U);
}

TEST(OffsetPtr, AReadOnlyBaseGivesReadOnlyObjects) {
    Image image;
    const ConstOffsetBase base = image.base();
    const auto pointer = OffsetPtr<Node>::to(image.node_at(16), base);
    static_assert(std::is_same_v<decltype(pointer.in(base)), const Node*>);
    EXPECT_TRUE(pointer.in(base) == image.node_at(16));
}

TEST(OffsetPtr, ABaseKnowsWhatItCovers) {
    Image image;
    const OffsetBase base = image.base();
    EXPECT_TRUE(base.covers(0, 256));
    EXPECT_FALSE(base.covers(0, 257));
    EXPECT_TRUE(base.covers(256, 0));
    EXPECT_FALSE(base.covers(257, 0));
    EXPECT_FALSE(base.covers(255, SIZE_MAX));
}

}  // namespace
