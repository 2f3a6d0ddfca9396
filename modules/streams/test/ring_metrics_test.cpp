#include <ouro/observe/metrics.hpp>
#include <ouro/streams/ring_metrics.hpp>
#include <ouro/streams/state_page.hpp>
#include <ouro/streams/state_ring.hpp>

#include <memory>

#include <gtest/gtest.h>

namespace ouro {
namespace {

constexpr SegmentOptions kWorld{.name = "world", .bytes = 1 << 20};

std::uint64_t value_of(const MetricsSnapshot& metrics, std::string_view key) {
    const SourceMetrics* const source = metrics.find_source("ring");
    const MetricValue* const value = source == nullptr ? nullptr : source->find(key);
    EXPECT_NE(value, nullptr) << key;
    return value == nullptr ? 0 : value->value;
}

TEST(RingMetrics, TwoSnapshotsMakeTheBandwidth) {
    auto ring = StateRing::create({.segments = {&kWorld, 1}, .history_ticks = 10, .history_bytes = 8 << 20});
    ASSERT_TRUE(ring);
    const auto source = add_metric_source("ring", collect_ring, &*ring);
    ASSERT_TRUE(source);
    // Too large for a stack.
    const auto before = std::make_unique<MetricsSnapshot>();
    const auto after = std::make_unique<MetricsSnapshot>();
    const MemoryBlock world = *ring->segment_block("world");
    take_metrics(*before);
    for (std::size_t page = 0; page < 5; ++page) {
        std::byte* const place = world.data + page * kStatePageBytes;
        *place = std::byte{1};
        ASSERT_EQ(ring->mark(place, 1), Status::ok);
        ASSERT_TRUE(ring->commit());
    }
    ASSERT_TRUE(ring->rollback(3));
    take_metrics(*after);
    const StateRingStats stats = ring->stats();
    EXPECT_EQ(value_of(*after, "commits") - value_of(*before, "commits"), 5U);
    EXPECT_EQ(value_of(*after, "rollbacks"), 1U);
    EXPECT_GE(value_of(*after, "captured"), 5 * kStatePageBytes);
    EXPECT_EQ(value_of(*after, "captured"), stats.pages_captured * kStatePageBytes);
    EXPECT_EQ(value_of(*after, "restored"), stats.pages_restored * kStatePageBytes);
    EXPECT_GT(value_of(*after, "restored"), 0U);
    EXPECT_EQ(value_of(*after, "history"), stats.history_bytes);
    EXPECT_GT(source_rate(*before, *after, "ring", "captured"), 0);
    EXPECT_TRUE(remove_metric_source(*source));
}

}  // namespace
}  // namespace ouro
