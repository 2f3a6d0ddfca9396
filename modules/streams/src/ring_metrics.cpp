#include <ouro/streams/ring_metrics.hpp>
#include <ouro/streams/state_page.hpp>
#include <ouro/streams/state_ring.hpp>

namespace ouro {

void collect_ring(void* ring, MetricWriter& writer) noexcept {
    const StateRingStats stats = static_cast<const StateRing*>(ring)->stats();
    writer.add_total("commits", stats.commits);
    writer.add_total("rollbacks", stats.rollbacks);
    writer.add_total("captured", stats.pages_captured * kStatePageBytes, MetricUnit::bytes);
    writer.add_total("restored", stats.pages_restored * kStatePageBytes, MetricUnit::bytes);
    writer.add_total("ticks_given_up", stats.ticks_given_up);
    writer.add_total("failed_scans", stats.failed_scans);
    writer.add_level("history", stats.history_bytes, MetricUnit::bytes);
    writer.add_level("packed", stats.packed_bytes, MetricUnit::bytes);
    writer.add_share("used_slots", stats.slots - stats.free_slots, stats.slots);
}

}  // namespace ouro
