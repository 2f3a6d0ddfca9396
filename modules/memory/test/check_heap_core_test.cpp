// What check() of a small-object heap finds, also under a partition for any thread.
#include "damage.hpp"

#include <ouro/memory/partition_allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/os/thread.hpp>

#include <atomic>
#include <bit>
#include <cstring>
#include <vector>

namespace ouro::testing_support {

OURO_OPEN_MEMBER(SmallCore, &SmallObjectAllocator::core_);
OURO_OPEN_MEMBER(PartitionHeap, &Partition::heap_);
OURO_OPEN_MEMBER(CoreUnits, &detail::HeapCore::units_);
OURO_OPEN_MEMBER(CoreSlabs, &detail::HeapCore::slabs_);
OURO_OPEN_MEMBER(CoreBitmaps, &detail::HeapCore::bitmaps_);
OURO_OPEN_MEMBER(CoreKinds, &detail::HeapCore::kinds_);
OURO_OPEN_MEMBER(CoreHeaps, &detail::HeapCore::heaps_);
OURO_OPEN_MEMBER(MapTaken, &detail::UnitMap::taken_);
OURO_OPEN_MEMBER(HeapBins, &detail::ThreadHeap::bins_);
OURO_OPEN_MEMBER(HeapLimits, &detail::ThreadHeap::limits_);
OURO_OPEN_MEMBER(HeapEmptyUnits, &detail::ThreadHeap::empty_units_);
OURO_OPEN_MEMBER(HeapQueue, &detail::ThreadHeap::queue_);

namespace {

using detail::HeapCore;
using detail::Slab;
using detail::ThreadHeap;
using detail::UnitKind;

constexpr std::size_t kMany = 64;
// So large that a slab knows its blocks by one word.
constexpr std::size_t kFew = 2048;
// One that is left in the cache.
constexpr std::size_t kCached = 96;
constexpr std::size_t kLarge = std::size_t{200} << 10;

class HeapCoreCheck : public testing::Test {
protected:
    // Of both sizes some blocks in use, some in their slabs, and many that were never out.
    void SetUp() override {
        ASSERT_TRUE(heap_);
        for (const std::size_t size : {kMany, kFew}) {
            std::vector<MemoryBlock> blocks;
            for (std::size_t count = 0; count < 12; ++count)
                blocks.push_back(*heap_->allocate(size));
            for (std::size_t index = 0; index < 4; ++index)
                heap_->deallocate(blocks[2 * index]);
            (size == kMany ? many_ : few_) = blocks.back();
        }
        heap_->purge();
        const auto large = heap_->allocate(kLarge);
        const auto again = heap_->allocate(kCached);
        ASSERT_TRUE(large && again);
        large_ = *large;
        heap_->deallocate(*again);
        ASSERT_EQ(heap_->check(), Status::ok);
    }

    HeapCore& core() { return *open<SmallCore>(*heap_); }
    std::size_t unit_of(const MemoryBlock& block) { return core().units().unit_of(block.data); }
    Slab& slab_of(const MemoryBlock& block) { return open<CoreSlabs>(core())[unit_of(block)]; }
    std::atomic<UnitKind>& kind_of(std::size_t unit) { return open<CoreKinds>(core())[unit]; }
    auto& taken_word(std::size_t unit) { return open<MapTaken>(open<CoreUnits>(core()))[unit / 64]; }
    ThreadHeap& thread_heap() { return *open<CoreHeaps>(core()).load(); }
    static unsigned class_of(std::size_t size) { return detail::class_for(size, kDefaultAlignment); }

    Expected<SmallObjectAllocator> heap_ = SmallObjectAllocator::create({.max_bytes = std::size_t{32} << 20});
    MemoryBlock many_;
    MemoryBlock few_;
    MemoryBlock large_;
};

TEST_F(HeapCoreCheck, FindsAWrongUnitMap) {
    for (const MemoryBlock& block : {many_, few_, large_}) {
        const std::size_t unit = unit_of(block);
        OURO_EXPECT_FOUND(*heap_, taken_word(unit), taken_word(unit).load() ^ std::uint64_t{1} << unit % 64);
        OURO_EXPECT_FOUND(*heap_, kind_of(unit), UnitKind::none);
        OURO_EXPECT_FOUND(*heap_, kind_of(unit), UnitKind::large_body);
    }
    OURO_EXPECT_FOUND(*heap_, kind_of(unit_of(many_)), UnitKind::large_head);
    const std::size_t free = core().units().usable_units() - 1;
    ASSERT_EQ(kind_of(free).load(), UnitKind::none);
    OURO_EXPECT_FOUND(*heap_, taken_word(free), taken_word(free).load() | std::uint64_t{1} << free % 64);
    OURO_EXPECT_FOUND(*heap_, kind_of(free), detail::kind_of_class(3));
}

TEST_F(HeapCoreCheck, FindsAWrongLargeBlock) {
    const std::size_t unit = unit_of(large_);
    OURO_EXPECT_FOUND(*heap_, slab_of(large_).capacity, 0U);
    OURO_EXPECT_FOUND(*heap_, slab_of(large_).capacity, 1'000'000U);
    OURO_EXPECT_FOUND(*heap_, slab_of(large_).capacity, slab_of(large_).capacity - 1);
    OURO_EXPECT_FOUND(*heap_, kind_of(unit + 1), UnitKind::none);
    OURO_EXPECT_FOUND(*heap_, kind_of(unit + 1), UnitKind::large_head);
}

TEST_F(HeapCoreCheck, FindsAWrongSlab) {
    for (const MemoryBlock& block : {many_, few_}) {
        Slab& slab = slab_of(block);
        OURO_EXPECT_FOUND(*heap_, slab.size_class, slab.size_class + 1);
        OURO_EXPECT_FOUND(*heap_, slab.units_back, 1U);
        OURO_EXPECT_FOUND(*heap_, slab.units, 0U);
        OURO_EXPECT_FOUND(*heap_, slab.units, 2U);
        OURO_EXPECT_FOUND(*heap_, slab.capacity, slab.capacity + 1);
        OURO_EXPECT_FOUND(*heap_, slab.first_fresh, slab.capacity + 1);
        OURO_EXPECT_FOUND(*heap_, slab.first_fresh, slab.first_fresh + 1);
        OURO_EXPECT_FOUND(*heap_, slab.owner, nullptr);
        OURO_EXPECT_FOUND(*heap_, slab.is_listed, false);
        OURO_EXPECT_FOUND(*heap_, slab.used, slab.used.load() + 1);
        ASSERT_NE(slab.returned, 0U);
        OURO_EXPECT_FOUND(*heap_, slab.returned, 0U);
    }
}

TEST_F(HeapCoreCheck, FindsWrongBitsOfASlab) {
    // Of few blocks in the record itself: one too many, and one that was never out.
    Slab& few = slab_of(few_);
    OURO_EXPECT_FOUND(*heap_, few.returned, few.returned & (few.returned - 1));
    ASSERT_LT(few.first_fresh, few.capacity);
    const std::uint64_t lowest = few.returned & ~(few.returned - 1);
    OURO_EXPECT_FOUND(*heap_, few.returned, (few.returned ^ lowest) | std::uint64_t{1} << few.first_fresh);
    // Of many in the bitmap.
    Slab& many = slab_of(many_);
    std::uint64_t& word = open<CoreBitmaps>(core())[unit_of(many_)].words[0];
    ASSERT_NE(word, 0U);
    OURO_EXPECT_FOUND(*heap_, word, 0U);
    OURO_EXPECT_FOUND(*heap_, word, word & (word - 1));
    ASSERT_LT(many.first_fresh, 64U);
    const std::uint64_t first = word & ~(word - 1);
    OURO_EXPECT_FOUND(*heap_, word, (word ^ first) | std::uint64_t{1} << many.first_fresh);
    OURO_EXPECT_FOUND(*heap_, many.returned, many.returned | 2U);
}

TEST_F(HeapCoreCheck, FindsAWrongThreadHeap) {
    ThreadHeap& heap = thread_heap();
    const unsigned size_class = class_of(kCached);
    ASSERT_GE(heap.cached_blocks(size_class), 1U);
    std::uint32_t& limit = open<HeapLimits>(heap)[size_class];
    OURO_EXPECT_FOUND(*heap_, limit, 0U);
    OURO_EXPECT_FOUND(*heap_, limit, 1'000'000U);
    auto& bin = open<HeapBins>(heap)[size_class];
    void** const cached = bin.bottom.load();
    int elsewhere = 0;
    OURO_EXPECT_FOUND(*heap_, cached[0], &elsewhere);
    OURO_EXPECT_FOUND(*heap_, cached[0], few_.data);
    OURO_EXPECT_FOUND(*heap_, cached[0], large_.data);
    OURO_EXPECT_FOUND(*heap_, open<HeapEmptyUnits>(heap), 1'000U);
}

TEST_F(HeapCoreCheck, FindsAWrongListOfSlabs) {
    auto& bin = open<HeapBins>(thread_heap())[class_of(kMany)];
    ASSERT_NE(bin.slabs, nullptr);
    Slab& slab = *bin.slabs;
    OURO_EXPECT_FOUND(*heap_, slab.previous, &slab);
    OURO_EXPECT_FOUND(*heap_, bin.slabs, &slab_of(few_));
    // Somebody's, but not this heap's.
    OURO_EXPECT_FOUND(*heap_, slab.owner, &thread_heap() + 1);
}

TEST_F(HeapCoreCheck, FindsWrongArrivalsOnTheWayHome) {
    const unsigned size_class = class_of(kMany);
    auto& queue = open<HeapQueue>(thread_heap())[size_class];
    core().send_home(size_class, many_.data);
    ASSERT_EQ(heap_->check(), Status::ok);
    ouro::detail::Arrivals& arrivals = *queue.arrivals.load();
    ASSERT_EQ(&core().slab_of(arrivals), &slab_of(many_));
    OURO_EXPECT_FOUND(*heap_, queue.arrivals, nullptr);
    const std::uint64_t summary = arrivals.summary;
    OURO_EXPECT_FOUND(*heap_, arrivals.summary, 0U);
    OURO_EXPECT_FOUND(*heap_, arrivals.summary, summary << 1);
    const auto word = static_cast<std::size_t>(std::countr_zero(summary));
    const std::uint64_t blocks = arrivals.words[word];
    // One less, one more, and one that was never out.
    OURO_EXPECT_FOUND(*heap_, arrivals.words[word], 0U);
    OURO_EXPECT_FOUND(*heap_, arrivals.words[word], blocks | blocks << 1);
    OURO_EXPECT_FOUND(*heap_, arrivals.words[word], std::uint64_t{1} << 63);
}

// A thread may be lost by a fork between the bits of its blocks and their summary, or with the record in its
// hands: what counts are the bits.
TEST_F(HeapCoreCheck, WhatAForkLeavesHalfwayIsFoundByItsBits) {
    const unsigned size_class = class_of(kMany);
    auto& queue = open<HeapQueue>(thread_heap())[size_class];
    core().send_home(size_class, many_.data);
    detail::Arrivals& arrivals = *queue.arrivals.load();
    const std::uint64_t summary = arrivals.summary.exchange(0);
    queue.arrivals = nullptr;
    core().note_collected(size_class, 1);
    core().abandon_heaps_except(os::this_thread_id());
    EXPECT_EQ(arrivals.summary.load(), summary);
    EXPECT_EQ(queue.arrivals.load(), &arrivals);
    EXPECT_EQ(heap_->check(), Status::ok);
    // And where everything is forgotten, the bits are too.
    arrivals.summary = 0;
    heap_->reset();
    for (const auto& word : arrivals.words)
        EXPECT_EQ(word.load(), 0U);
    EXPECT_EQ(heap_->check(), Status::ok);
}

TEST_F(HeapCoreCheck, FindsAWrongParcelOnTheWayHome) {
    std::vector<MemoryBlock> blocks;
    for (int count = 0; count < 100; ++count)
        blocks.push_back(*heap_->allocate(kMany));
    ThreadHeap& owner = thread_heap();
    auto work = [&] {
        for (const MemoryBlock& block : blocks)
            heap_->deallocate(block);
    };
    auto thread = os::Thread::start([](void* task) { (*static_cast<decltype(work)*>(task))(); }, &work);
    if (!thread) return;
    // What it kept goes home with its end.
    thread->join();
    auto& queue = open<HeapQueue>(owner)[class_of(kMany)];
    detail::Parcel* const parcel = queue.parcels.load();
    ASSERT_NE(parcel, nullptr);
    OURO_EXPECT_FOUND(*heap_, parcel->is_taken, false);
    OURO_EXPECT_FOUND(*heap_, parcel->count, 0U);
    OURO_EXPECT_FOUND(*heap_, parcel->count, detail::Parcel::kEntries + 1);
    detail::Parcel::Entry& entry = parcel->entries[0];
    OURO_EXPECT_FOUND(*heap_, entry.blocks, 0U);
    OURO_EXPECT_FOUND(*heap_, entry.blocks, entry.blocks & (entry.blocks - 1));
    OURO_EXPECT_FOUND(*heap_, entry.word, ~std::size_t{0});
    OURO_EXPECT_FOUND(*heap_, entry.word, unit_of(large_) * detail::SlabBitmap::kWords);
    OURO_EXPECT_FOUND(*heap_, queue.blocks, queue.blocks.load() + 1);
    // A parcel that was lost with all its blocks.
    const std::uint32_t queued = queue.blocks.load();
    std::uint32_t lost = 0;
    for (std::uint32_t index = 0; index < parcel->count; ++index)
        lost += static_cast<std::uint32_t>(std::popcount(parcel->entries[index].blocks));
    queue.blocks = queued - lost;
    queue.parcels = parcel->next;
    EXPECT_EQ(heap_->check(), Status::corrupt_data);
    queue.parcels = parcel;
    queue.blocks = queued;
    EXPECT_EQ(heap_->check(), Status::ok);
}

TEST(PartitionCheckShared, AsksTheHeapOfAPartitionForAnyThread) {
    const PartitionOptions options[] = {{.thread_safety = ThreadSafety::any_thread}};
    auto set = PartitionAllocator::create({.partitions = options});
    ASSERT_TRUE(set);
    Partition& part = (*set)[0];
    const auto block = part.allocate(64);
    ASSERT_TRUE(block);
    HeapCore& core = *open<SmallCore>(*open<PartitionHeap>(part));
    Slab& slab = open<CoreSlabs>(core)[core.units().unit_of(block->data)];
    OURO_EXPECT_FOUND(part, slab.capacity, 1U);
    OURO_EXPECT_FOUND(*set, slab.capacity, 1U);
}

}  // namespace
}  // namespace ouro::testing_support
