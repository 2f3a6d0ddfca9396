#include "charges.hpp"
#include "fresh_tags.hpp"

#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/pool.hpp>
#include <ouro/memory/pool_allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/observe/budget.hpp>
#include <ouro/observe/charged_allocator.hpp>
#include <ouro/observe/metrics.hpp>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using test::fresh_tag;

// Too large for a stack.
std::unique_ptr<MetricsSnapshot> snapshot() {
    auto metrics = std::make_unique<MetricsSnapshot>();
    take_metrics(*metrics);
    return metrics;
}

std::uint64_t value_of(const MetricsSnapshot& metrics, std::string_view source, std::string_view key) {
    const SourceMetrics* const found = metrics.find_source(source);
    EXPECT_NE(found, nullptr);
    const MetricValue* const value = found == nullptr ? nullptr : found->find(key);
    EXPECT_NE(value, nullptr);
    return value == nullptr ? 0 : value->value;
}

TEST(Metrics, TagsAreAsTheLedgerSaysThem) {
    const Tag parent = fresh_tag();
    const Tag child = fresh_tag(parent);
    ASSERT_TRUE(set_budget(child, {.soft_bytes = 20'000, .hard_bytes = 30'000}));
    ASSERT_EQ(test::charge(parent, 1'000), Status::ok);
    ASSERT_EQ(test::charge(child, 10'000), Status::ok);
    ASSERT_EQ(test::charge(child, 10'000), Status::ok);
    test::refund(child, 10'000);
    EXPECT_EQ(test::charge(child, 30'000), Status::budget_exceeded);
    const auto metrics = snapshot();
    ASSERT_EQ(metrics->tag_count, tag_count());
    for (const Tag tag : {Tag{}, parent, child}) {
        const TagUse use = use_of(tag);
        const TagUse& seen = metrics->tags[tag.id()].use;
        EXPECT_EQ(seen.live_bytes, use.live_bytes);
        EXPECT_EQ(seen.live_blocks, use.live_blocks);
        EXPECT_EQ(seen.peak_bytes, use.peak_bytes);
        EXPECT_EQ(seen.allocations, use.allocations);
        EXPECT_EQ(seen.frees, use.frees);
        EXPECT_EQ(seen.allocated_bytes, use.allocated_bytes);
        EXPECT_EQ(seen.freed_bytes, use.freed_bytes);
        EXPECT_EQ(seen.failures, use.failures);
    }
    EXPECT_EQ(metrics->tags[parent.id()].use.live_bytes, 11'000U);
    EXPECT_EQ(metrics->tags[parent.id()].use.peak_bytes, 21'000U);
    EXPECT_EQ(metrics->tags[child.id()].budget.soft_bytes, 20'000U);
    EXPECT_EQ(metrics->tags[child.id()].budget.hard_bytes, 30'000U);
    test::refund(parent, 1'000);
    test::refund(child, 10'000);
}

TEST(Metrics, TwoSnapshotsMakeRates) {
    const Tag tag = fresh_tag();
    auto before = snapshot();
    ASSERT_EQ(test::charge(tag, 3'000), Status::ok);
    ASSERT_EQ(test::charge(tag, 1'000), Status::ok);
    test::refund(tag, 1'000);
    auto after = snapshot();
    before->time_ns = 1'000'000'000;
    after->time_ns = 3'000'000'000;
    const TagRates rates = tag_rates(*before, *after, tag);
    EXPECT_DOUBLE_EQ(rates.allocations_per_second, 1);
    EXPECT_DOUBLE_EQ(rates.frees_per_second, 0.5);
    EXPECT_DOUBLE_EQ(rates.allocated_bytes_per_second, 2'000);
    EXPECT_DOUBLE_EQ(rates.freed_bytes_per_second, 500);
    // No time, time that goes back, tags that are not there.
    EXPECT_DOUBLE_EQ(tag_rates(*after, *after, tag).allocations_per_second, 0);
    EXPECT_DOUBLE_EQ(tag_rates(*after, *before, tag).allocations_per_second, 0);
    EXPECT_DOUBLE_EQ(tag_rates(*before, *after, Tag::from_id(kMaxTags - 1)).allocations_per_second, 0);
    // A tag that came in between began with nothing.
    before->tag_count = tag.id();
    EXPECT_DOUBLE_EQ(tag_rates(*before, *after, tag).allocations_per_second, 1);
    test::refund(tag, 3'000);
}

TEST(Metrics, RegisteredRangesAreSummed) {
    constexpr std::size_t kBlocks = 16;
    constexpr std::size_t kBlockBytes = std::size_t{64} << 10;
    const auto before = snapshot();
    auto pool = PoolAllocator::create(
        {.block_bytes = kBlockBytes, .initial_blocks = kBlocks, .max_blocks = 2 * kBlocks});
    ASSERT_TRUE(pool);
    const auto after = snapshot();
    EXPECT_EQ(after->blocks.count, before->blocks.count + 1);
    EXPECT_GE(after->blocks.committed_bytes, before->blocks.committed_bytes + kBlocks * kBlockBytes);
    EXPECT_GE(after->blocks.reserved_bytes, before->blocks.reserved_bytes + 2 * kBlocks * kBlockBytes);
    EXPECT_LE(after->blocks.used_bytes, after->blocks.committed_bytes);
    // What nobody has told is not taken for unused.
    EXPECT_GE(after->blocks.untold_bytes, before->blocks.untold_bytes + kBlocks * kBlockBytes);
    pool->deallocate_block(pool->allocate_block()->data);
    pool->publish();
    const auto told = snapshot();
    EXPECT_EQ(told->blocks.untold_bytes, before->blocks.untold_bytes);
    EXPECT_GT(told->blocks.fragmentation(), 0);
    EXPECT_LE(told->blocks.fragmentation(), 1);
    // A range within another does not count twice.
    auto frame = FrameAllocator::create_on(*pool, kBlockBytes);
    ASSERT_TRUE(frame);
    EXPECT_EQ(snapshot()->blocks.count, after->blocks.count);
}

TEST(Metrics, FragmentationIsTheShareNotInUse) {
    BlockMetrics blocks;
    EXPECT_DOUBLE_EQ(blocks.fragmentation(), 0);
    blocks.committed_bytes = 1'000;
    blocks.used_bytes = 250;
    EXPECT_DOUBLE_EQ(blocks.fragmentation(), 0.75);
    EXPECT_TRUE(blocks.knows_fragmentation());
    blocks.used_bytes = 2'000;
    EXPECT_DOUBLE_EQ(blocks.fragmentation(), 0);
}

TEST(Metrics, FragmentationIsOfThoseWhoTell) {
    BlockMetrics blocks{.committed_bytes = 1'000, .used_bytes = 100, .untold_bytes = 800};
    EXPECT_DOUBLE_EQ(blocks.fragmentation(), 0.5);
    blocks = {.committed_bytes = 1'000, .untold_bytes = 1'000};
    EXPECT_FALSE(blocks.knows_fragmentation());
    EXPECT_DOUBLE_EQ(blocks.fragmentation(), 0);
}

TEST(Metrics, TheUseOfAHeapIsKnownAtOnce) {
    constexpr std::size_t kBytes = std::size_t{1} << 20;
    const auto before = snapshot();
    auto heap = SmallObjectAllocator::create({.max_bytes = 16 * kBytes});
    ASSERT_TRUE(heap);
    EXPECT_EQ(snapshot()->blocks.untold_bytes, before->blocks.untold_bytes);
    const auto block = heap->allocate(kBytes);
    ASSERT_TRUE(block);
    EXPECT_EQ(snapshot()->blocks.used_bytes, before->blocks.used_bytes + kBytes);
    EXPECT_EQ(snapshot()->blocks.untold_bytes, before->blocks.untold_bytes);
    heap->deallocate(*block);
    EXPECT_EQ(snapshot()->blocks.used_bytes, before->blocks.used_bytes);
}

TEST(Metrics, UntrackedIsWhatTheSystemSaysLessWhatWeKnow) {
    auto metrics = std::make_unique<MetricsSnapshot>();
    metrics->observe_cost.used_bytes = 10;
    metrics->blocks.committed_bytes = 500;
    metrics->process.resident_bytes = 1'000;
    EXPECT_EQ(metrics->untracked_bytes(), 0);
    metrics->process_status = Status::ok;
    metrics->tag_count = 1;
    metrics->tags[0].use.live_bytes = 400;
    // Charged blocks lie in the ranges.
    EXPECT_EQ(metrics->known_bytes(), 510U);
    EXPECT_EQ(metrics->untracked_bytes(), 490);
    // Unless there are more of them.
    metrics->tags[0].use.live_bytes = 700;
    EXPECT_EQ(metrics->known_bytes(), 710U);
    // Committed and not touched.
    metrics->blocks.committed_bytes = 5'000;
    EXPECT_EQ(metrics->untracked_bytes(), 1'000 - 5'010);
}

// Memory that goes around the library becomes untracked, memory that goes through it does not.
TEST(Metrics, UntrackedSeesWhatGoesAroundTheLibrary) {
    constexpr std::size_t kBytes = std::size_t{16} << 20;
    const auto before = snapshot();
    // There the system's number is that of addresses.
    if (sizeof(void*) == 4) return;
    ASSERT_EQ(before->process_status, Status::ok);
    auto pool = PoolAllocator::create({.block_bytes = kBytes, .initial_blocks = 1, .max_blocks = 1});
    ASSERT_TRUE(pool);
    const auto ours = pool->allocate(kBytes);
    ASSERT_TRUE(ours);
    std::fill_n(ours->data, ours->size, std::byte{1});
    const auto between = snapshot();
    const std::vector<std::byte> theirs(kBytes, std::byte{1});
    const auto after = snapshot();
    constexpr auto kHalf = static_cast<std::int64_t>(kBytes / 2);
    EXPECT_LT(between->untracked_bytes() - before->untracked_bytes(), kHalf);
    EXPECT_GT(after->untracked_bytes() - between->untracked_bytes(), kHalf);
    EXPECT_EQ(theirs.back(), std::byte{1});
}

TEST(Metrics, SlowPathsAreTimed) {
    auto heap = SmallObjectAllocator::create({.name = "metrics test"});
    ASSERT_TRUE(heap);
    ChargedAllocator memory(*heap, fresh_tag());
    const auto before = snapshot();
    const auto block = memory.allocate(1'000'000);
    ASSERT_TRUE(block);
    const auto after = snapshot();
    EXPECT_EQ(after->slow_paths.allocations, before->slow_paths.allocations + 1);
    EXPECT_GE(after->slow_paths.time_ns, before->slow_paths.time_ns);
    memory.deallocate(*block);
    // From credit nothing is timed. There is some again when no new peak was reached for a while.
    for (int times = 0; times < 100; ++times) {
        const auto passing = memory.allocate(16);
        ASSERT_TRUE(passing);
        memory.deallocate(*passing);
    }
    const std::uint64_t slow = snapshot()->slow_paths.allocations;
    if (detail::t_ledger.shard != nullptr) {
        const auto quick = memory.allocate(16);
        ASSERT_TRUE(quick);
        EXPECT_EQ(snapshot()->slow_paths.allocations, slow);
        memory.deallocate(*quick);
    }
}

TEST(MetricSources, TellWhatHeapsAndPoolsKnow) {
    auto heap = SmallObjectAllocator::create({.name = "metrics test"});
    auto blocks = PoolAllocator::create({.block_bytes = 64, .max_blocks = 1'000});
    auto objects = Pool<int>::create({.max_objects = 100});
    ASSERT_TRUE(heap && blocks && objects);
    const auto heap_id = add_metric_source("heap", collect_heap, &*heap);
    const auto blocks_id = add_metric_source("blocks", collect_pool<PoolAllocator>, &*blocks);
    const auto objects_id = add_metric_source("objects", collect_pool<Pool<int>>, &*objects);
    const auto plain_id = add_metric_source("plain", collect_resource, static_cast<MemoryResource*>(&*heap));
    ASSERT_TRUE(heap_id && blocks_id && objects_id && plain_id);

    const auto block = heap->allocate(100);
    const auto first = blocks->allocate(64);
    ASSERT_TRUE(block && first);
    blocks->deallocate(*first);
    const auto second = blocks->allocate(64);
    ASSERT_TRUE(second && objects->make(3));
    const auto metrics = snapshot();
    EXPECT_EQ(value_of(*metrics, "heap", "live"), heap->stats().live_bytes);
    EXPECT_EQ(value_of(*metrics, "heap", "remote_queue"), 0U);
    EXPECT_EQ(value_of(*metrics, "heap", "cached"), heap->counts().cached_bytes);
    EXPECT_EQ(value_of(*metrics, "plain", "committed"), heap->stats().committed_bytes);
    EXPECT_EQ(value_of(*metrics, "objects", "live_blocks"), 1U);
    const MetricValue* const hits = metrics->find_source("blocks")->find("hits");
    ASSERT_NE(hits, nullptr);
    EXPECT_DOUBLE_EQ(hits->share(), 0.5);

    // The share lately: all of them.
    blocks->deallocate(*second);
    const auto third = blocks->allocate(64);
    ASSERT_TRUE(third);
    const auto later = snapshot();
    EXPECT_DOUBLE_EQ(source_rate(*metrics, *later, "blocks", "hits"), 1);
    EXPECT_GT(source_rate(*metrics, *later, "blocks", "allocations"), 0);
    EXPECT_DOUBLE_EQ(source_rate(*metrics, *later, "blocks", "live"), 0);
    EXPECT_DOUBLE_EQ(source_rate(*metrics, *later, "nobody", "live"), 0);
    for (const auto& id : {heap_id, blocks_id, objects_id, plain_id})
        EXPECT_TRUE(remove_metric_source(*id));
    EXPECT_EQ(snapshot()->find_source("heap"), nullptr);
    EXPECT_EQ(remove_metric_source(*heap_id).status(), Status::not_found);
}

void tell_nothing(void*, MetricWriter&) noexcept {}

TEST(MetricSources, BadOnesAndTooManyAreRefused) {
    EXPECT_EQ(add_metric_source("", tell_nothing).status(), Status::bad_argument);
    EXPECT_EQ(add_metric_source("none", nullptr).status(), Status::bad_argument);
    std::vector<MetricSourceId> added;
    for (auto id = add_metric_source("many", tell_nothing); id; id = add_metric_source("many", tell_nothing))
        added.push_back(*id);
    EXPECT_EQ(added.size(), kMaxMetricSources);
    EXPECT_EQ(snapshot()->source_count, kMaxMetricSources);
    for (const MetricSourceId id : added)
        EXPECT_TRUE(remove_metric_source(id));
    EXPECT_EQ(remove_metric_source({}).status(), Status::not_found);
}

TEST(MetricSources, TooManyValuesAreDroppedAndLongNamesAreCut) {
    const auto id = add_metric_source(
        "a name that is much longer than there is room for in a snapshot",
        [](void*, MetricWriter& writer) noexcept {
            for (std::uint64_t i = 0; i < kMaxMetricValues + 3; ++i)
                writer.add_level("a key that is much longer than there is room for in a value", i);
        });
    ASSERT_TRUE(id);
    const auto metrics = snapshot();
    ASSERT_EQ(metrics->source_count, 1U);
    EXPECT_EQ(metrics->sources[0].name().size(), kMetricNameBytes);
    EXPECT_EQ(metrics->sources[0].values[0].key().size(), kMetricNameBytes);
    EXPECT_EQ(metrics->sources[0].count, kMaxMetricValues);
    EXPECT_EQ(metrics->sources[0].dropped, 3U);
    EXPECT_TRUE(remove_metric_source(*id));
}

struct Reentrant {
    MetricSourceId id;
    MetricsSnapshot inner;
};

TEST(MetricSources, ASourceMayTakeMetricsAndRemoveItself) {
    const auto state = std::make_unique<Reentrant>();
    const auto id = add_metric_source(
        "reentrant",
        [](void* context, MetricWriter& writer) noexcept {
            auto& self = *static_cast<Reentrant*>(context);
            take_metrics(self.inner);
            writer.add_total("inner_sources", self.inner.source_count);
            EXPECT_TRUE(remove_metric_source(self.id));
        },
        state.get());
    ASSERT_TRUE(id);
    state->id = *id;
    const auto metrics = snapshot();
    EXPECT_EQ(value_of(*metrics, "reentrant", "inner_sources"), 0U);
    EXPECT_EQ(state->inner.tag_count, tag_count());
    EXPECT_EQ(snapshot()->source_count, 0U);
}

}  // namespace
}  // namespace ouro
