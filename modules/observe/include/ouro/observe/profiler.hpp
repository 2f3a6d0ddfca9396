#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/memory/memory_config.hpp>
#include <ouro/memory/tag.hpp>
#include <ouro/observe/detail/profile_layout.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

// Which places of the program allocate, and what of it is still there: from a sample of the allocations of
// every ChargedAllocator, small enough to stay on in production.
//
//     start_profiler({});
//     ...
//     std::array<SiteProfile, 10> sites;
//     for (const SiteProfile& site : top_sites(SiteOrder::live, sites)) ...
//
// Every byte that is allocated has the same chance to make its block a sample, whatever the sizes and the
// pattern. A sampled block stands for as many as its size makes likely, so that all sums are unbiased: with n
// samples behind it, a number is off by a share of about 1 / sqrt(n).
//
// All functions may be called from any thread.
namespace ouro {

struct ProfilerOptions {
    // The mean distance of two samples, in bytes allocated. One is nearly every block.
    std::size_t mean_bytes = std::size_t{512} << 10;
    // Frames of a stack that tell sites apart, from the innermost on.
    std::size_t stack_depth = detail::kMaxSiteFrames;
    // A block is temporary when the thread that allocated it frees it before it has allocated so many bytes
    // more. Threads that share a count, as all do in wasm32, are taken for one.
    std::size_t temporary_bytes = std::size_t{64} << 10;
    // With a seed, the same thread samples the same allocations again. Zero: a new one each time.
    std::uint64_t seed = 0;
};

// Begins with empty tables, at any time in the life of the program; allocations from now on are sampled.
// Fails with bad_argument (a mean of zero or above 1 TiB, a depth of zero or above 16), busy (it runs) or
// out_of_memory.
Expected<void> start_profiler(const ProfilerOptions& options) noexcept;

// The same with the mean distance of the configuration. With none, nothing is started, and nothing fails.
Expected<void> start_configured_profiler(const MemoryConfig& config) noexcept;

// The tables stay to be read, and what was sampled and is freed later is still taken off. Nothing happens
// when it does not run.
void stop_profiler() noexcept;

// From now on; what was sampled before keeps its weight. Fails with bad_argument, as start_profiler, or
// not_found when it does not run.
Expected<void> set_profiler_mean(std::size_t mean_bytes) noexcept;

// Estimates.
struct ProfileAmount {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
};

// A place that allocates: a call stack under a tag.
struct SiteProfile {
    // The same as long as the profiler is not started again. Zero is for the sites that found no room.
    std::uint32_t number = 0;
    Tag tag = {};
    ProfileAmount live = {};
    // Since the start.
    ProfileAmount allocated = {};
    ProfileAmount temporary = {};
    // Since growth was marked, or since the start. Negative when more was freed.
    std::int64_t growth_bytes = 0;
    std::int64_t growth_blocks = 0;
    // The most that was live at once.
    std::uint64_t peak_bytes = 0;
    // What the estimates rest on, and those of them that are live.
    std::uint64_t samples = 0;
    std::uint64_t live_samples = 0;
    std::size_t frame_count = 0;
    std::array<std::uint64_t, detail::kMaxSiteFrames> frames = {};

    // Return addresses, innermost first. None where stacks cannot be seen (wasm32).
    [[nodiscard]] std::span<const std::uint64_t> stack() const noexcept {
        return std::span(frames).first(frame_count);
    }
};

enum class SiteOrder : std::uint8_t { live, allocated, temporary, growth, peak };

// The sites with the most bytes, largest first; fewer than there is room for when the others have none.
[[nodiscard]] std::span<SiteProfile> top_sites(SiteOrder order, std::span<SiteProfile> sites) noexcept;

// Sites have the numbers 0 to site_count() - 1.
[[nodiscard]] std::size_t site_count() noexcept;
// An empty one for a number beyond.
[[nodiscard]] SiteProfile read_site(std::size_t number) noexcept;

// Growth counts from now on.
void mark_growth() noexcept;

struct ProfilerState {
    bool is_running = false;
    std::size_t mean_bytes = 0;
    // os::monotonic_ns of the last start, and of the stop after it.
    std::uint64_t started_ns = 0;
    std::uint64_t stopped_ns = 0;
    std::uint64_t samples = 0;
    // Samples beyond the room of the tables. The first count as the site with number zero, the second as
    // allocated but never as live.
    std::uint64_t dropped_sites = 0;
    std::uint64_t dropped_blocks = 0;
    ProfileAmount live = {};
    std::uint64_t peak_bytes = 0;
};
[[nodiscard]] ProfilerState profiler_state() noexcept;

}  // namespace ouro
