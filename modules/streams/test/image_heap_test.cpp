#include "sim_rig.hpp"

#include <array>
#include <cstring>
#include <span>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using testing_support::SimRig;

struct Town {
    std::uint64_t gold;
    FixedString<15> name;
    OffsetPtr<Town> next;
    std::uint32_t unused;
};

class ImageHeapTest : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(rig_.is_ready()); }

    ImageHeap& heap() { return rig_.heap(); }
    StateRing& ring() { return rig_.ring(); }
    static bool is_zero(MemoryBlock block) {
        return std::all_of(block.begin(), block.end(), [](std::byte byte) { return byte == std::byte{0}; });
    }
    // As a program that knows nothing of marks would scribble.
    void scribble(MemoryBlock block) {
        heap().mark(block.data, block.size);
        std::memset(block.data, 0xa5, block.size);
    }

    SimRig rig_;
};

TEST_F(ImageHeapTest, HandsOutZerosWhateverLayThereBefore) {
    for (const std::size_t size : {1U, 15U, 100U, 5'000U, 40'000U}) {
        SCOPED_TRACE(size);
        const auto first = heap().allocate(size);
        ASSERT_TRUE(first);
        EXPECT_GE(first->size, size);
        EXPECT_TRUE(is_zero(*first));
        scribble(*first);
        heap().deallocate(*first);
        const auto second = heap().allocate(size);
        ASSERT_TRUE(second);
        EXPECT_EQ(second->data, first->data) << "not the same memory: nothing was tested";
        EXPECT_TRUE(is_zero(*second));
        heap().deallocate(*second);
    }
    rig_.commit();
}

TEST_F(ImageHeapTest, GrowsWithZerosBehindWhatWasThere) {
    auto block = heap().allocate(100);
    ASSERT_TRUE(block);
    scribble(*block);
    for (const std::size_t size : {112U, 400U, 9'000U, 60'000U}) {
        SCOPED_TRACE(size);
        const std::size_t before = block->size;
        block = heap().reallocate(*block, size);
        ASSERT_TRUE(block);
        EXPECT_EQ(block->data[before - 1], std::byte{0xa5});
        EXPECT_TRUE(is_zero({block->data + before, block->size - before}));
        scribble(*block);
        rig_.commit();
    }
    const auto smaller = heap().reallocate(*block, 20);
    ASSERT_TRUE(smaller);
    const auto larger = heap().reallocate({smaller->data, 20}, 30);
    ASSERT_TRUE(larger);
    EXPECT_TRUE(is_zero({larger->data + 20, 12})) << "within the unit, too";
    rig_.commit();
}

TEST_F(ImageHeapTest, ClearingZeroPagesDoesNotDirtyThem) {
    rig_.commit();
    const auto block = heap().allocate(256 << 10);
    ASSERT_TRUE(block);
    rig_.commit();
    // The heap's own pages and the two at the ends of the block.
    EXPECT_LE(ring().stats().last_pages, 8U);
}

TEST_F(ImageHeapTest, RefusesWhatMakesNoSense) {
    EXPECT_EQ(heap().allocate(0).status(), Status::zero_size);
    EXPECT_EQ(heap().allocate(16, 3).status(), Status::bad_alignment);
    EXPECT_EQ(heap().allocate(16, 2 * ImageHeap::kMaxAlignment).status(), Status::bad_alignment);
    EXPECT_EQ(heap().allocate(std::size_t{2} << 20).status(), Status::capacity_exhausted);
    const auto block = heap().allocate(100);
    ASSERT_TRUE(block);
    scribble(*block);
    EXPECT_EQ(heap().reallocate(*block, std::size_t{2} << 20).status(), Status::capacity_exhausted);
    EXPECT_EQ(heap().reallocate(*block, 100, 2 * ImageHeap::kMaxAlignment).status(), Status::bad_alignment);
    EXPECT_EQ(block->data[99], std::byte{0xa5});
    EXPECT_EQ(ImageHeap::create(ring(), "nowhere").status(), Status::not_found);
    EXPECT_EQ(ImageHeap::attach(ring(), "nowhere").status(), Status::not_found);
    EXPECT_EQ(heap().check(), Status::ok);
    rig_.commit();
}

TEST_F(ImageHeapTest, AlignsUpToAPage) {
    for (std::size_t alignment = 1; alignment <= ImageHeap::kMaxAlignment; alignment *= 2) {
        const auto block = heap().allocate(24, alignment);
        ASSERT_TRUE(block);
        EXPECT_EQ(heap().offset_of(block->data) % alignment, 0U);
    }
    rig_.commit();
}

TEST_F(ImageHeapTest, IsFullAndGoesOnAfterwards) {
    std::vector<MemoryBlock> blocks;
    for (auto block = heap().allocate(3000); block; block = heap().allocate(3000))
        blocks.push_back(*block);
    EXPECT_GT(blocks.size(), 300U);
    EXPECT_EQ(heap().allocate(3000).status(), Status::capacity_exhausted);
    using Big = std::array<std::uint64_t, 1000>;
    EXPECT_EQ(heap().make_root<Big>("big").status(), Status::capacity_exhausted);
    EXPECT_EQ(heap().stats().roots, 0U);
    rig_.commit();
    for (const MemoryBlock block : blocks)
        heap().deallocate(block);
    EXPECT_EQ(heap().stats().heap.live_blocks, 0U);
    EXPECT_TRUE(heap().allocate(700'000));
    EXPECT_EQ(heap().check(), Status::ok);
    rig_.commit();
}

TEST_F(ImageHeapTest, GoingBackTakesAllocationsBack) {
    const auto before = heap().stats();
    rig_.commit();
    const auto town = heap().make<Town>();
    ASSERT_TRUE(town);
    heap().edit(*town).gold = 7;
    const Tick with_town = rig_.commit();
    heap().destroy(*town);
    rig_.commit();
    EXPECT_EQ(heap().stats().heap.live_blocks, before.heap.live_blocks);
    ASSERT_TRUE(ring().rollback(with_town));
    EXPECT_EQ(heap().stats().heap.live_blocks, before.heap.live_blocks + 1);
    EXPECT_EQ(heap().get(*town).gold, 7U);
    ASSERT_TRUE(ring().rollback(with_town - 1));
    EXPECT_EQ(heap().stats().heap.live_blocks, before.heap.live_blocks);
    const auto again = heap().make<Town>();
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, *town) << "the same calls give the same places";
    EXPECT_EQ(heap().get(*again).gold, 0U);
}

TEST_F(ImageHeapTest, FindsRootsAgain) {
    const auto town = heap().make_root<Town>("town");
    ASSERT_TRUE(town);
    heap().edit(*town).name = "Delphi";
    EXPECT_EQ(heap().make_root<Town>("town").status(), Status::bad_argument);
    EXPECT_EQ(heap().make_root<Town>("").status(), Status::bad_argument);
    EXPECT_EQ(heap().make_root<Town>("a name of many characters").status(), Status::bad_argument);
    EXPECT_EQ(heap().root<Town>("city").status(), Status::not_found);
    EXPECT_EQ(heap().root<std::uint32_t>("town").status(), Status::bad_argument);
    const Tick tick = rig_.commit();

    const auto attached = ImageHeap::attach(ring(), "world");
    ASSERT_TRUE(attached);
    const auto found = attached->root<Town>("town");
    ASSERT_TRUE(found);
    EXPECT_EQ(attached->get(*found).name, "Delphi");

    ASSERT_TRUE(heap().remove_root("town"));
    EXPECT_EQ(heap().remove_root("town").status(), Status::not_found);
    rig_.commit();
    const auto view = ring().view(tick);
    ASSERT_TRUE(view);
    const auto then = PastReader(*view).root<Town>(heap(), "town");
    ASSERT_TRUE(then);
    EXPECT_EQ(then->name, "Delphi");
    EXPECT_EQ(PastReader(*view).root<Town>(heap(), "city").status(), Status::not_found);
    EXPECT_EQ(PastReader(*view).root<std::uint32_t>(heap(), "town").status(), Status::bad_argument);
    const auto fresh = ring().view(0);
    ASSERT_TRUE(fresh);
    EXPECT_EQ(PastReader(*fresh).root<Town>(heap(), "town").status(), Status::corrupt_data);
}

TEST_F(ImageHeapTest, ValuesBehindTheEndOfAPastTickAreRefused) {
    const auto town = heap().make_root<Town>("town");
    ASSERT_TRUE(town);
    const auto view = ring().view(rig_.commit());
    ASSERT_TRUE(view);
    const PastReader past(*view);
    const auto first = OffsetPtr<std::uint64_t>::from_offset(town->offset());
    std::array<std::uint64_t, 2> room{};
    const std::span<std::uint64_t> values(room);
    EXPECT_EQ(past.load(first, 0, values), Status::ok);
    // So many bytes that they begin at zero again, or behind.
    for (const std::uint64_t index : {std::uint64_t{1} << 61, (std::uint64_t{1} << 61) + 1, UINT64_MAX,
                                      UINT64_MAX / 8, std::uint64_t{ring().image().size}})
        EXPECT_EQ(past.load(first, index, values), Status::out_of_range) << index;
}

TEST_F(ImageHeapTest, HasRoomForSoManyRoots) {
    for (std::size_t i = 0; i < ImageHeapHeader::kMaxRoots; ++i)
        ASSERT_TRUE(heap().make_root<Town>(std::string(i + 1, 'r')));
    EXPECT_EQ(heap().make_root<Town>("one more").status(), Status::capacity_exhausted);
    EXPECT_EQ(heap().stats().roots, ImageHeapHeader::kMaxRoots);
    ASSERT_TRUE(heap().remove_root("rrr"));
    EXPECT_TRUE(heap().make_root<Town>("one more"));
    EXPECT_EQ(heap().check(), Status::ok);
    rig_.commit();
}

TEST_F(ImageHeapTest, DoesNotAttachToWhatIsNoHeap) {
    ASSERT_TRUE(heap().make_root<Town>("town"));
    const Tick good = rig_.commit();
    const auto segment = ring().segment_block("world");
    ASSERT_TRUE(segment);
    Random random(77);
    const std::size_t control = static_cast<std::size_t>(heap().stats().control_bytes);
    int refused = 0;
    for (int i = 0; i < 3000; ++i) {
        SCOPED_TRACE(i);
        const std::size_t at = random.below(static_cast<std::uint32_t>(i % 2 == 0 ? 1024 : control));
        const std::uint32_t count = 1 + random.below(64);
        for (std::uint32_t k = 0; k < count && at + k < control; ++k)
            segment->data[at + k] = static_cast<std::byte>(random.below(256));
        ASSERT_EQ(ring().mark(segment->data + at, count), Status::ok);
        const auto attached = ImageHeap::attach(ring(), "world");
        if (!attached) {
            EXPECT_EQ(attached.status(), Status::corrupt_data);
            ++refused;
        }
        ASSERT_TRUE(ring().rollback(good));
    }
    // Counters may be others and still make sense.
    EXPECT_GT(refused, 2500);
    EXPECT_TRUE(ImageHeap::attach(ring(), "world"));
}

// A root is memory in use, and of nobody else: what says otherwise would be freed twice one day.
TEST_F(ImageHeapTest, RootsThatCannotBeAreFound) {
    const auto freed = heap().allocate(sizeof(Town));
    const auto large = heap().allocate(40'000);
    const auto last = heap().allocate(16);
    ASSERT_TRUE(freed && large && last);
    const auto town = heap().make_root<Town>("town");
    const auto other = heap().make_root<Town>("other");
    ASSERT_TRUE(town && other);
    heap().deallocate(*freed);
    heap().deallocate(*large);
    ASSERT_EQ(heap().check(), Status::ok);
    const Tick good = rig_.commit();
    const auto segment = ring().segment_block("world");
    ASSERT_TRUE(segment);
    auto& root = reinterpret_cast<ImageHeapHeader*>(segment->data)->roots[0];
    const std::array<std::pair<std::uint32_t, std::uint32_t>, 7> damages = {{
        {town->offset() + 8, sizeof(Town)},                      // not where blocks begin
        {other->offset(), sizeof(Town)},                         // another's
        {town->offset(), other->offset() - town->offset() + 1},  // into another's
        {heap().offset_of(freed->data), sizeof(Town)},           // kept for the next of its size
        {heap().offset_of(large->data), 40'000},                 // free
        {heap().offset_of(large->data) + 4096, 100},             // within what is free
        {heap().offset_of(last->data) - 16, 32},                 // up to the end of it
    }};
    for (const auto& [offset, bytes] : damages) {
        SCOPED_TRACE(std::to_string(offset) + ", " + std::to_string(bytes));
        heap().edit(root.offset) = offset;
        heap().edit(root.bytes) = bytes;
        EXPECT_EQ(heap().check(), Status::corrupt_data);
        ASSERT_TRUE(ring().rollback(good));
    }
    EXPECT_EQ(heap().check(), Status::ok);
}

struct alignas(64) AlignedTown {
    Town town;
    std::array<std::uint32_t, 8> rest;
};

TEST_F(ImageHeapTest, ARootIsNotOfATypeThatCannotStandThere) {
    struct Plain {
        std::array<std::uint32_t, 16> words;
    };
    ASSERT_TRUE(heap().allocate(16));
    const auto plain = heap().make_root<Plain>("plain");
    ASSERT_TRUE(plain);
    ASSERT_NE(plain->offset() % alignof(AlignedTown), 0U) << "nothing was tested";
    static_assert(sizeof(AlignedTown) == sizeof(Plain));
    EXPECT_EQ(heap().root<AlignedTown>("plain").status(), Status::bad_argument);
    EXPECT_TRUE(heap().root<Plain>("plain"));
}

// As after going back to a tick before it was made.
TEST_F(ImageHeapTest, WithoutItsBytesItAnswersWithAStatus) {
    ASSERT_TRUE(heap().make_root<Town>("town"));
    rig_.commit();
    ASSERT_TRUE(ring().rollback(0));
    EXPECT_EQ(heap().check(), Status::corrupt_data);
    EXPECT_EQ(heap().root<Town>("town").status(), Status::not_found);
    EXPECT_EQ(heap().allocate(100).status(), Status::capacity_exhausted);
    EXPECT_EQ(heap().allocate(100, 256).status(), Status::capacity_exhausted);
    EXPECT_EQ(heap().make_root<Town>("town").status(), Status::capacity_exhausted);
    EXPECT_EQ(ImageHeap::attach(ring(), "world").status(), Status::corrupt_data);
    ASSERT_TRUE(ImageHeap::create(ring(), "world"));
    EXPECT_TRUE(heap().make_root<Town>("town")) << "the handle is good again";
    rig_.commit();
}

// What was loaded, or made before, is not wiped by mistake.
TEST_F(ImageHeapTest, AHeapThatIsThereIsReplacedOnlyWhenAsked) {
    const auto town = heap().make_root<Town>("town");
    ASSERT_TRUE(town);
    heap().edit(*town).gold = 5;
    rig_.commit();
    EXPECT_EQ(ImageHeap::create(ring(), "world").status(), Status::address_in_use);
    const std::uint64_t hash = *ring().hash(ring().newest());
    EXPECT_EQ(*ring().hash(rig_.commit()), hash);
    auto attached = ImageHeap::attach(ring(), "world");
    ASSERT_TRUE(attached);
    EXPECT_EQ(attached->get(*attached->root<Town>("town")).gold, 5U);
    // Damaged as it may be.
    attached->edit(*reinterpret_cast<ImageHeapHeader*>(attached->segment().data)).root_count = 77;
    EXPECT_EQ(ImageHeap::create(ring(), "world").status(), Status::address_in_use);

    const auto fresh = ImageHeap::create(ring(), "world", {.replaces = true});
    ASSERT_TRUE(fresh);
    EXPECT_EQ(fresh->check(), Status::ok);
    EXPECT_EQ(fresh->root<Town>("town").status(), Status::not_found);
    rig_.commit();
}

TEST_F(ImageHeapTest, ADiscardedHeapLeavesRoomForAnother) {
    ASSERT_TRUE(heap().make_root<Town>("town"));
    rig_.commit();
    heap().discard();
    EXPECT_EQ(heap().check(), Status::corrupt_data);
    EXPECT_EQ(heap().allocate(100).status(), Status::capacity_exhausted);
    EXPECT_EQ(ImageHeap::attach(ring(), "world").status(), Status::corrupt_data);
    ASSERT_TRUE(ImageHeap::create(ring(), "world"));
    EXPECT_EQ(heap().check(), Status::ok) << "the same place, and so the same handle";
    EXPECT_EQ(heap().root<Town>("town").status(), Status::not_found);
    rig_.commit();
}

TEST(ImageHeapTracked, WorksWhereWritesAreFoundOtherwise) {
    SimRig rig(std::uint64_t{1} << 20, Tracking::automatic);
    ASSERT_TRUE(rig.is_ready());
    const auto town = rig.heap().make_root<Town>("town");
    ASSERT_TRUE(town);
    rig.heap().edit(*town).gold = 1;
    const Tick tick = rig.commit();
    rig.heap().edit(*town).gold = 2;
    rig.commit();
    ASSERT_TRUE(rig.ring().rollback(tick));
    EXPECT_EQ(rig.heap().get(*town).gold, 1U);
    EXPECT_EQ(rig.heap().check(), Status::ok);
}

}  // namespace
}  // namespace ouro
