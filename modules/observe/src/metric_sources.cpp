#include "metric_collection.hpp"

#include <ouro/memory/detail/word_lock.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/observe/detail/turn.hpp>
#include <ouro/os/fork_hooks.hpp>

#include <algorithm>

namespace ouro {
namespace {

struct Source {
    MetricCallback callback = nullptr;
    void* context = nullptr;
    std::uint64_t number = 0;
    std::array<char, kMetricNameBytes + 1> name{};
};

// Guards the table. Not held while a source is called, which happens in turns.
constinit detail::WordLock g_lock;
constinit std::array<Source, kMaxMetricSources> g_sources{};
constinit std::uint64_t g_added = 0;
constinit std::uint64_t g_running = 0;
constinit detail::Turn g_turn;

constinit std::atomic<bool> g_knows_forks = false;

void lock_for_fork(void*) noexcept {
    g_lock.lock();
}
void unlock_after_fork(void*) noexcept {
    g_lock.unlock();
}
void forget_others_in_child(void*) noexcept {
    g_turn.forget_others();
    if (!g_turn.is_mine()) g_running = 0;
    g_lock.unlock();
}

// Requires: g_lock is not held yet.
void prepare_for_forks() noexcept {
    if (g_knows_forks.load(std::memory_order_acquire)) return;
    static_cast<void>(os::add_fork_hooks(
        {.prepare = lock_for_fork, .parent = unlock_after_fork, .child = forget_others_in_child}));
    g_knows_forks.store(true, std::memory_order_release);
}

template <std::size_t kSize>
void copy_text(std::string_view text, std::array<char, kSize>& out) noexcept {
    std::copy_n(text.data(), std::min(text.size(), kSize - 1), out.data());
}

bool begin_call(std::size_t index, Source& source) noexcept {
    const detail::WordLockScope scope(g_lock);
    source = g_sources[index];
    if (source.callback == nullptr) return false;
    g_running = source.number;
    return true;
}

void end_call() noexcept {
    {
        const detail::WordLockScope scope(g_lock);
        g_running = 0;
    }
    g_turn.finish_step();
}

bool is_running(std::uint64_t number) noexcept {
    const detail::WordLockScope scope(g_lock);
    return g_running != 0 && g_running == number;
}

bool forget_source(std::uint64_t number) noexcept {
    const detail::WordLockScope scope(g_lock);
    const auto source = std::find_if(g_sources.begin(), g_sources.end(), [&](const Source& one) {
        return one.callback != nullptr && one.number == number;
    });
    if (source == g_sources.end()) return false;
    *source = {};
    return true;
}

}  // namespace

const MetricValue* SourceMetrics::find(std::string_view key) const noexcept {
    const MetricValue* const end = values.data() + count;
    const MetricValue* const found =
        std::find_if(values.data(), end, [&](const MetricValue& value) { return value.key() == key; });
    return found == end ? nullptr : found;
}

void MetricWriter::add(std::string_view key, MetricUnit unit, MetricKind kind, std::uint64_t value,
                       std::uint64_t whole) noexcept {
    if (metrics_.count == metrics_.values.size()) {
        ++metrics_.dropped;
        return;
    }
    MetricValue& place = metrics_.values[metrics_.count++];
    place = {.unit = unit, .kind = kind, .value = value, .whole = whole};
    copy_text(key, place.key_text);
}

void MetricWriter::add_level(std::string_view key, std::uint64_t value, MetricUnit unit) noexcept {
    add(key, unit, MetricKind::level, value, 0);
}
void MetricWriter::add_total(std::string_view key, std::uint64_t value, MetricUnit unit) noexcept {
    add(key, unit, MetricKind::total, value, 0);
}
void MetricWriter::add_share(std::string_view key, std::uint64_t part, std::uint64_t whole,
                             MetricUnit unit) noexcept {
    add(key, unit, MetricKind::share, part, whole);
}
void MetricWriter::add_share_of_totals(std::string_view key, std::uint64_t part, std::uint64_t whole,
                                       MetricUnit unit) noexcept {
    add(key, unit, MetricKind::share_of_totals, part, whole);
}

Expected<MetricSourceId> add_metric_source(std::string_view name, MetricCallback callback,
                                           void* context) noexcept {
    if (name.empty() || callback == nullptr) return Status::bad_argument;
    prepare_for_forks();
    const detail::WordLockScope scope(g_lock);
    for (Source& source : g_sources) {
        if (source.callback != nullptr) continue;
        source = {.callback = callback, .context = context, .number = ++g_added};
        copy_text(name, source.name);
        return MetricSourceId{source.number};
    }
    return Status::capacity_exhausted;
}

Expected<void> remove_metric_source(MetricSourceId id) noexcept {
    const bool was_there = forget_source(id.number);
    // Also where it was gone already: it may have removed itself, and still be running.
    if (!g_turn.is_mine()) g_turn.wait_while([&]() noexcept { return is_running(id.number); });
    if (!was_there) return Status::not_found;
    return {};
}

std::size_t detail::collect_metric_sources(std::span<SourceMetrics> metrics) noexcept {
    if (g_turn.is_mine()) return 0;
    g_turn.wait_while([]() noexcept { return !g_turn.try_begin(); });
    std::size_t count = 0;
    for (std::size_t index = 0; index < g_sources.size() && count < metrics.size(); ++index) {
        Source source;
        if (!begin_call(index, source)) continue;
        SourceMetrics& place = metrics[count++];
        place.count = 0;
        place.dropped = 0;
        place.name_text = source.name;
        MetricWriter writer(place);
        source.callback(source.context, writer);
        end_call();
    }
    g_turn.end();
    return count;
}

void detail::collect_stats(const ResourceStats& stats, MetricWriter& writer) noexcept {
    const std::size_t idle =
        stats.committed_bytes > stats.live_bytes ? stats.committed_bytes - stats.live_bytes : 0;
    writer.add_level("live", stats.live_bytes, MetricUnit::bytes);
    writer.add_level("peak", stats.peak_bytes, MetricUnit::bytes);
    writer.add_level("reserved", stats.reserved_bytes, MetricUnit::bytes);
    writer.add_level("committed", stats.committed_bytes, MetricUnit::bytes);
    writer.add_share("fragmentation", idle, stats.committed_bytes, MetricUnit::bytes);
    writer.add_level("live_blocks", stats.live_blocks);
    writer.add_total("allocations", stats.allocations);
    writer.add_total("failures", stats.failures);
}

void collect_resource(void* resource, MetricWriter& writer) noexcept {
    detail::collect_stats(static_cast<const MemoryResource*>(resource)->stats(), writer);
}

void collect_heap(void* heap, MetricWriter& writer) noexcept {
    const auto& self = *static_cast<const SmallObjectAllocator*>(heap);
    detail::collect_stats(self.stats(), writer);
    const SmallObjectAllocator::Counts counts = self.counts();
    writer.add_level("cached", counts.cached_bytes, MetricUnit::bytes);
    writer.add_level("remote_queue", counts.queued_blocks);
    writer.add_level("thread_heaps", counts.heaps);
    writer.add_level("orphaned_heaps", counts.orphans);
}

}  // namespace ouro
