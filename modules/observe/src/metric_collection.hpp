#pragma once

#include <ouro/observe/metric_sources.hpp>

#include <cstddef>
#include <span>

namespace ouro::detail {

// Asks all sources, as many as fit; returns how many. None from inside a source.
std::size_t collect_metric_sources(std::span<SourceMetrics> metrics) noexcept;

}  // namespace ouro::detail
