#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/memory/memory_resource.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// Numbers that only their owners know: of a heap, a pool, or anything else of a program that should stand
// beside the metrics of memory.
namespace ouro {

enum class MetricUnit : std::uint8_t { count, bytes, nanoseconds };

enum class MetricKind : std::uint8_t {
    // How it is now.
    level,
    // All since the beginning: between two snapshots it is a rate.
    total,
    // A part of a whole, each a total: hits of all requests, between two snapshots as well.
    share_of_totals,
    // A part of a whole, as they are now.
    share,
};

inline constexpr std::size_t kMetricNameBytes = 39;

struct MetricValue {
    std::array<char, kMetricNameBytes + 1> key_text{};
    MetricUnit unit = MetricUnit::count;
    MetricKind kind = MetricKind::level;
    std::uint64_t value = 0;
    // The whole, for shares.
    std::uint64_t whole = 0;

    [[nodiscard]] std::string_view key() const noexcept { return key_text.data(); }
    // From 0 to 1; zero of nothing.
    [[nodiscard]] double share() const noexcept {
        return whole == 0 ? 0.0 : static_cast<double>(value) / static_cast<double>(whole);
    }
};

inline constexpr std::size_t kMaxMetricValues = 16;

// What one source told.
struct SourceMetrics {
    std::array<char, kMetricNameBytes + 1> name_text{};
    std::size_t count = 0;
    // Values that found no room.
    std::size_t dropped = 0;
    std::array<MetricValue, kMaxMetricValues> values{};

    [[nodiscard]] std::string_view name() const noexcept { return name_text.data(); }
    // Null when there is none.
    [[nodiscard]] const MetricValue* find(std::string_view key) const noexcept;
};

// Takes down what a source tells. Keys are copied, and cut at kMetricNameBytes.
class MetricWriter {
public:
    explicit MetricWriter(SourceMetrics& metrics) noexcept : metrics_(metrics) {}

    void add_level(std::string_view key, std::uint64_t value, MetricUnit unit = MetricUnit::count) noexcept;
    void add_total(std::string_view key, std::uint64_t value, MetricUnit unit = MetricUnit::count) noexcept;
    void add_share(std::string_view key, std::uint64_t part, std::uint64_t whole,
                   MetricUnit unit = MetricUnit::count) noexcept;
    void add_share_of_totals(std::string_view key, std::uint64_t part, std::uint64_t whole,
                             MetricUnit unit = MetricUnit::count) noexcept;

private:
    void add(std::string_view key, MetricUnit unit, MetricKind kind, std::uint64_t value,
             std::uint64_t whole) noexcept;

    SourceMetrics& metrics_;
};

// Called on the thread that takes a snapshot: what may be used by one thread only is to be measured by that
// thread only. It may add and remove sources.
using MetricCallback = void (*)(void* context, MetricWriter& writer) noexcept;

struct MetricSourceId {
    std::uint64_t number = 0;
};

inline constexpr std::size_t kMaxMetricSources = 32;

// The name is copied, and cut at kMetricNameBytes. From any thread. Fails with bad_argument (no name or
// callback) or capacity_exhausted.
Expected<MetricSourceId> add_metric_source(std::string_view name, MetricCallback callback,
                                           void* context = nullptr) noexcept;
// When it returns, the source is not being called and will not be; only from inside a callback nothing is
// waited for. Fails with not_found.
Expected<void> remove_metric_source(MetricSourceId source) noexcept;

// Callbacks for what the allocators know of themselves; the context is the allocator, which must stay until
// its source is removed:
//
//     add_metric_source("creatures", collect_pool<Pool<Creature>>, &creatures);

// Of any MemoryResource, which the context must point to as such: live, peak and committed bytes, and how
// much of the committed ones is not in use (fragmentation).
void collect_resource(void* resource, MetricWriter& writer) noexcept;

// Of a SmallObjectAllocator: that, what threads keep in caches, and what waits in queues for the threads that
// own it.
void collect_heap(void* heap, MetricWriter& writer) noexcept;

namespace detail {

void collect_stats(const ResourceStats& stats, MetricWriter& writer) noexcept;

}  // namespace detail

// Of a Pool, PoolAllocator or LocalPoolAllocator: that, how many allocations found a block that was used
// before (hits), and what other threads have freed.
template <class PoolType>
void collect_pool(void* pool, MetricWriter& writer) noexcept {
    const auto& self = *static_cast<const PoolType*>(pool);
    detail::collect_stats(self.stats(), writer);
    const auto stats = self.pool_stats();
    writer.add_share_of_totals("hits", stats.reused, stats.reused + stats.fresh);
    writer.add_total("growths", stats.growths);
    writer.add_total("shrinks", stats.shrinks);
    writer.add_total("remote_frees", stats.remote_frees);
    writer.add_level("longest_remote_queue", stats.longest_remote_queue);
}

}  // namespace ouro
