// What check() of a partition finds.
#include "damage.hpp"

#include <ouro/memory/partition_allocator.hpp>
#include <ouro/memory/seal.hpp>

#include <vector>

namespace ouro::testing_support {

OURO_OPEN_MEMBER(PartitionSpans, &Partition::spans_);
OURO_OPEN_MEMBER(PartitionCaches, &Partition::caches_);
OURO_OPEN_MEMBER(PartitionCurrent, &Partition::current_);
OURO_OPEN_MEMBER(PartitionPartial, &Partition::partial_);
OURO_OPEN_MEMBER(PartitionEmpty, &Partition::empty_);
OURO_OPEN_MEMBER(PartitionEmptyCount, &Partition::empty_count_);
OURO_OPEN_MEMBER(PartitionLiveBytes, &Partition::live_bytes_);
OURO_OPEN_MEMBER(PartitionPeakBytes, &Partition::peak_bytes_);
OURO_OPEN_MEMBER(PartitionAllocations, &Partition::allocations_);
OURO_OPEN_MEMBER(PartitionFrees, &Partition::frees_);
OURO_OPEN_MEMBER(PartitionCommitted, &Partition::committed_bytes_);
OURO_OPEN_MEMBER(PartitionKept, &Partition::kept_bytes_);
OURO_OPEN_MEMBER(PartitionUnused, &Partition::unused_spans_);
OURO_OPEN_MEMBER(SetAddresses, &PartitionAllocator::addresses_);
OURO_OPEN_MEMBER(SetByAddress, &PartitionAllocator::by_address_);

namespace {

using partition::kNoSpan;
using partition::kSpanBytes;
using partition::Span;
using partition::SpanKind;

constexpr std::size_t kSpans = 64;
constexpr std::size_t kLargeBytes = 3 * kSpanBytes;
// Eight to a span, and eight in a cache.
constexpr std::size_t kSlotBytes = 8192;

// A partition that has everything there is: spans that are current, partly free, full, empty, unused with and
// without memory, of large blocks, and slots in caches.
class PartitionCheck : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(set_);
        // Three spans of slots, of which the first came back to the list.
        for (int count = 0; count < 24; ++count)
            take(kSlotBytes);
        for (std::size_t index = 1; index < 14; ++index)
            part().deallocate(blocks_[index]);
        take(100);
        const auto large = part().allocate(kLargeBytes);
        const auto kept = part().allocate(kSpanBytes / 2 + 1);
        ASSERT_TRUE(large && kept);
        large_ = *large;
        const SealScope seal;
        part().deallocate(*kept);
        ASSERT_EQ(part().check(), Status::ok);
    }

    void take(std::size_t bytes) {
        const auto block = part().allocate(bytes);
        ASSERT_TRUE(block);
        blocks_.push_back(*block);
    }

    Partition& part() { return (*set_)[0]; }
    Span& span(std::size_t index) { return open<PartitionSpans>(part())[index]; }
    Span& span_of(const MemoryBlock& block) {
        return span(static_cast<std::size_t>(block.data - part().addresses().data) / kSpanBytes);
    }
    // The first span that is so.
    template <class Predicate>
    Span& find_span(Predicate is_wanted) {
        for (std::size_t index = 0; index < kSpans; ++index) {
            if (is_wanted(span(index))) return span(index);
        }
        ADD_FAILURE() << "no such span";
        return span(0);
    }

    static constexpr PartitionOptions kOptions[] = {{.name = "checked", .max_bytes = kSpans * kSpanBytes},
                                                    {.name = "other", .max_bytes = kSpanBytes}};
    Expected<PartitionAllocator> set_ = PartitionAllocator::create({.partitions = kOptions});
    std::vector<MemoryBlock> blocks_;
    MemoryBlock large_;
};

TEST_F(PartitionCheck, FindsWrongCounts) {
    OURO_EXPECT_FOUND(part(), open<PartitionLiveBytes>(part()), open<PartitionLiveBytes>(part()) - 16);
    OURO_EXPECT_FOUND(part(), open<PartitionPeakBytes>(part()), open<PartitionLiveBytes>(part()) - 1);
    OURO_EXPECT_FOUND(part(), open<PartitionAllocations>(part()), open<PartitionAllocations>(part()) + 1);
    OURO_EXPECT_FOUND(part(), open<PartitionFrees>(part()), open<PartitionFrees>(part()) + 1);
    OURO_EXPECT_FOUND(part(), open<PartitionCommitted>(part()),
                      open<PartitionCommitted>(part()) + kSpanBytes);
    ASSERT_NE(open<PartitionKept>(part()), 0U);
    OURO_EXPECT_FOUND(part(), open<PartitionKept>(part()), 0U);
    OURO_EXPECT_FOUND(*set_, open<PartitionFrees>(part()), open<PartitionFrees>(part()) + 1);
}

TEST_F(PartitionCheck, FindsWrongCaches) {
    const std::uint32_t index = partition::class_of(kSlotBytes);
    partition::Cache& cache = open<PartitionCaches>(part())[index];
    ASSERT_GE(cache.count, 2U);
    OURO_EXPECT_FOUND(part(), cache.count, cache.limit + 1);
    OURO_EXPECT_FOUND(part(), cache.count, cache.count - 1);
    OURO_EXPECT_FOUND(part(), cache.limit, partition::Cache::kMostSlots + 1);
    OURO_EXPECT_FOUND(part(), cache.slots[0], part().addresses().end());
    OURO_EXPECT_FOUND(part(), cache.slots[0], cache.slots[0] + 1);
    OURO_EXPECT_FOUND(part(), cache.slots[0], cache.slots[0] + 16);
    OURO_EXPECT_FOUND(part(), cache.slots[0], cache.slots[1]);
    // In use; of another class; of a large block.
    OURO_EXPECT_FOUND(part(), cache.slots[0], blocks_[20].data);
    OURO_EXPECT_FOUND(part(), cache.slots[0], blocks_.back().data);
    OURO_EXPECT_FOUND(part(), cache.slots[0], large_.data);
    // Free in its span as well.
    const auto offset = static_cast<std::size_t>(cache.slots[0] - part().addresses().data);
    const std::size_t unit = offset % kSpanBytes / partition::kSlotUnit;
    Span& span = span_of({cache.slots[0], 1});
    OURO_EXPECT_FOUND(part(), span.free_units[unit / 64],
                      span.free_units[unit / 64] | std::uint64_t{1} << unit % 64);
}

TEST_F(PartitionCheck, FindsWrongLists) {
    const std::uint32_t index = partition::class_of(kSlotBytes);
    std::uint32_t& head = open<PartitionPartial>(part())[index];
    ASSERT_NE(head, kNoSpan);
    Span& listed = span(head);
    OURO_EXPECT_FOUND(part(), head, kNoSpan);
    OURO_EXPECT_FOUND(part(), head, kSpans);
    OURO_EXPECT_FOUND(part(), listed.next, head);
    OURO_EXPECT_FOUND(part(), listed.previous, head);
    OURO_EXPECT_FOUND(part(), listed.is_listed, false);
    OURO_EXPECT_FOUND(part(), listed.class_index, index + 1);
    OURO_EXPECT_FOUND(part(), listed.kind, SpanKind::empty);
    Span*& current = open<PartitionCurrent>(part())[index];
    ASSERT_NE(current, nullptr);
    OURO_EXPECT_FOUND(part(), current, &listed);
    OURO_EXPECT_FOUND(part(), current, &span_of(large_));
    OURO_EXPECT_FOUND(part(), current, &span_of(blocks_.back()));
    // Without a list, with free slots, and not the one that refills the cache.
    Span*& of_small = open<PartitionCurrent>(part())[partition::class_of(100)];
    ASSERT_NE(of_small, nullptr);
    OURO_EXPECT_FOUND(part(), of_small, nullptr);
}

TEST_F(PartitionCheck, FindsWrongSpansOfSlots) {
    Span& span = span_of(blocks_.back());
    ASSERT_NE(span.free_count, 0U);
    OURO_EXPECT_FOUND(part(), span.begin, span.begin + kSpanBytes);
    OURO_EXPECT_FOUND(part(), span.capacity, span.capacity - 1);
    OURO_EXPECT_FOUND(part(), span.free_count, span.free_count - 1);
    OURO_EXPECT_FOUND(part(), span.class_index, partition::kClassCount - 1);
    OURO_EXPECT_FOUND(part(), span.summary, 0U);
    OURO_EXPECT_FOUND(part(), span.taken_units[0], 0U);
    // Where no slot begins, and where one is free.
    OURO_EXPECT_FOUND(part(), span.taken_units[0], span.taken_units[0] | 2U);
    OURO_EXPECT_FOUND(part(), span.taken_units[Span::kWords / 2],
                      span.taken_units[Span::kWords / 2] | span.free_units[Span::kWords / 2]);
    OURO_EXPECT_FOUND(part(), span.is_listed, true);
    OURO_EXPECT_FOUND(part(), span.kind, SpanKind::unused);
}

TEST_F(PartitionCheck, FindsWrongSpansOfLargeBlocks) {
    Span& span = span_of(large_);
    ASSERT_EQ(span.kind, SpanKind::large);
    OURO_EXPECT_FOUND(part(), span.run_spans, 0U);
    OURO_EXPECT_FOUND(part(), span.run_spans, kSpans + 1);
    OURO_EXPECT_FOUND(part(), span.run_spans, span.run_spans + 1);
    OURO_EXPECT_FOUND(part(), span.run_spans, span.run_spans - 1);
    OURO_EXPECT_FOUND(part(), span.block_bytes, span.block_bytes - 16);
    OURO_EXPECT_FOUND(part(), span.block_offset, 16U);
    OURO_EXPECT_FOUND(part(), (&span)[1].kind, SpanKind::large);
}

TEST_F(PartitionCheck, FindsWrongUnusedSpans) {
    Span& kept = find_span([](const Span& span) { return span.kept_bytes != 0; });
    OURO_EXPECT_FOUND(part(), kept.kept_bytes, 0U);
    OURO_EXPECT_FOUND(part(), kept.kind, SpanKind::slots);
    std::uint64_t& unused = open<PartitionUnused>(part())[0];
    OURO_EXPECT_FOUND(part(), unused, unused ^ 1U);
    OURO_EXPECT_FOUND(part(), unused, unused ^ std::uint64_t{1} << (kSpans - 1));
}

TEST_F(PartitionCheck, FindsWrongEmptySpans) {
    for (std::size_t index = 14; index < 24; ++index)
        part().deallocate(blocks_[index]);
    // What is in the caches goes home and leaves spans empty, which stay for the next.
    std::vector<MemoryBlock> more;
    for (int count = 0; count < 64; ++count)
        more.push_back(*part().allocate(kSlotBytes));
    for (const MemoryBlock& block : more)
        part().deallocate(block);
    ASSERT_NE(open<PartitionEmpty>(part()), kNoSpan);
    Span& empty = span(open<PartitionEmpty>(part()));
    OURO_EXPECT_FOUND(part(), open<PartitionEmptyCount>(part()), 0U);
    OURO_EXPECT_FOUND(part(), open<PartitionEmpty>(part()), kNoSpan);
    OURO_EXPECT_FOUND(part(), empty.is_listed, false);
    OURO_EXPECT_FOUND(part(), empty.capacity, 1U);
    OURO_EXPECT_FOUND(part(), empty.kind, SpanKind::slots);
    OURO_EXPECT_FOUND(part(), empty.previous, 0U);
}

TEST_F(PartitionCheck, FindsPartitionsThatOverlapOrLieOutside) {
    MemoryBlock& addresses = open<SetAddresses>(*set_);
    OURO_EXPECT_FOUND(*set_, addresses.size, kSpanBytes);
    Partition** const by_address = open<SetByAddress>(*set_);
    OURO_EXPECT_FOUND(*set_, by_address[1], by_address[0]);
}

}  // namespace
}  // namespace ouro::testing_support
