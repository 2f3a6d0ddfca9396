#pragma once

#include <ouro/base/status.hpp>
#include <ouro/memory/tag.hpp>
#include <ouro/observe/budget.hpp>
#include <ouro/observe/byte_sink.hpp>
#include <ouro/observe/ledger.hpp>
#include <ouro/observe/metric_sources.hpp>
#include <ouro/os/process_memory.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// All that is known of the program's memory at one moment. Two of them make rates.
//
//     static MetricsSnapshot before, now;      // too large for a stack
//     take_metrics(before);
//     ...
//     take_metrics(now);
//     write_metrics_json(sink, now, &before);
namespace ouro {

struct TagMetrics {
    // With all tags below it.
    TagUse use;
    Budget budget;
};

// The ranges of the registry of blocks, without those that are parts of others. Of heaps for any thread as it
// is now; of others as of the last time that the owner brought its entry up to date (publish() does).
struct BlockMetrics {
    std::size_t count = 0;
    // Ranges that found the registry full.
    std::size_t unlisted = 0;
    std::uint64_t reserved_bytes = 0;
    std::uint64_t committed_bytes = 0;
    std::uint64_t used_bytes = 0;
    // Committed in ranges whose owners have not told yet how much of it is in use.
    std::uint64_t untold_bytes = 0;

    // Whether anybody told how much is in use.
    [[nodiscard]] bool knows_fragmentation() const noexcept { return committed_bytes > untold_bytes; }
    // The share of committed memory that is not in use, from 0 to 1, among ranges that tell; 0 where none
    // does.
    [[nodiscard]] double fragmentation() const noexcept;
};

// The time of those allocations only that could not be served from a thread's credit: all large ones, all
// that make a new peak, and one of many small ones. Those are the calls that can take long, because memory
// has to be found for them; the rest, a few nanoseconds each, would cost more to measure than to do. A
// thread's first sixteen are timed, then each sixteenth, which stands for as many. Frees are not timed.
struct SlowPathMetrics {
    std::uint64_t allocations = 0;
    std::uint64_t time_ns = 0;
};

struct MetricsSnapshot {
    // os::monotonic_ns.
    std::uint64_t time_ns = 0;

    std::size_t tag_count = 0;
    // By the tag's id. The first one is everything.
    std::array<TagMetrics, kMaxTags> tags{};

    BlockMetrics blocks;
    SlowPathMetrics slow_paths;
    // By the handlers of the pressure monitors that there are.
    std::uint64_t handler_ns = 0;
    ObserveCost observe_cost;

    // What the system says, when it does.
    Status process_status = Status::not_supported;
    os::ProcessMemory process;

    std::size_t source_count = 0;
    std::array<SourceMetrics, kMaxMetricSources> sources{};

    // What we know to be memory: the larger of what registered ranges have committed and what is charged to
    // tags, since charged blocks lie in registered ranges as a rule; and what observing takes itself.
    [[nodiscard]] std::uint64_t known_bytes() const noexcept;
    // What the system says is resident, less what we know. Above zero: code, stacks, the C library's heap and
    // all else that does not go through this library. Below zero: memory was committed and never touched, or
    // is swapped out. Zero when the system does not say.
    [[nodiscard]] std::int64_t untracked_bytes() const noexcept;

    // Null when there is none of this name.
    [[nodiscard]] const SourceMetrics* find_source(std::string_view name) const noexcept;
};

// From any thread; one at a time is taken, others wait. Beside a program at work each number is right, but
// they are not of exactly the same moment. From inside a source's callback it works without the sources.
void take_metrics(MetricsSnapshot& snapshot) noexcept;

struct TagRates {
    double allocations_per_second = 0;
    double frees_per_second = 0;
    double allocated_bytes_per_second = 0;
    double freed_bytes_per_second = 0;
};
// Zero where no time has passed.
[[nodiscard]] TagRates tag_rates(const MetricsSnapshot& before, const MetricsSnapshot& after,
                                 Tag tag) noexcept;

// Of a total that a source tells: its growth in a second. Of a share of totals: the share among what came
// between the two. Zero for all else, and where either snapshot does not have it.
[[nodiscard]] double source_rate(const MetricsSnapshot& before, const MetricsSnapshot& after,
                                 std::string_view source, std::string_view key) noexcept;

// One JSON object. With a snapshot from before, the rates since then stand beside the totals.
void write_metrics_json(const ByteSink& sink, const MetricsSnapshot& snapshot,
                        const MetricsSnapshot* before = nullptr) noexcept;
// The same for people, without the tags that nobody used.
void write_metrics_text(const ByteSink& sink, const MetricsSnapshot& snapshot,
                        const MetricsSnapshot* before = nullptr) noexcept;

}  // namespace ouro
