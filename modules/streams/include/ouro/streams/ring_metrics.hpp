#pragma once

#include <ouro/observe/metric_sources.hpp>

namespace ouro {

// For add_metric_source: what a StateRing, the context, has done. Bytes captured by commits and restored by
// rollbacks are totals, so that two snapshots make the bandwidth of the ring.
//
//     add_metric_source("world", collect_ring, &ring);
//
// Requires: metrics are taken where the ring may be asked for its stats(), which is on the thread that
// commits or while nobody does; the ring neither moves nor ends before its source is removed.
void collect_ring(void* ring, MetricWriter& writer) noexcept;

}  // namespace ouro
