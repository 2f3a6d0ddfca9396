#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

// The profiler's tables in the image: fixed-width numbers, zero at first, changed under a lock of the process
// that owns them. A reader elsewhere may meet a change half-way and checks what it reads.
namespace ouro::detail {

inline constexpr std::size_t kMaxSiteFrames = 16;
inline constexpr std::size_t kMaxSites = sizeof(void*) == 8 ? 4096 : 512;
inline constexpr std::size_t kMaxLiveSamples = sizeof(void*) == 8 ? std::size_t{1} << 16 : 4096;

// Blocks are estimated in fractions of one.
inline constexpr unsigned kBlockFractionBits = 16;

// Estimates: bytes, and blocks in fractions.
struct ProfileSum {
    std::atomic<std::uint64_t> bytes;
    std::atomic<std::uint64_t> block_fractions;
};

// One place that allocates: a stack under a tag. Number zero is for those that found no room.
struct ProfileSite {
    std::uint64_t hash;
    // The next one in the same bucket; zero ends the chain.
    std::uint32_t next;
    std::uint16_t tag;
    std::uint16_t frame_count;
    ProfileSum live;
    ProfileSum allocated;
    ProfileSum temporary;
    // What was live when growth was last marked.
    ProfileSum marked;
    std::atomic<std::uint64_t> peak_bytes;
    std::atomic<std::uint64_t> samples;
    std::atomic<std::uint64_t> live_samples;
    std::atomic<std::uint64_t> last_ns;
    // Return addresses, innermost first.
    std::array<std::uint64_t, kMaxSiteFrames> frames;
};
static_assert(sizeof(ProfileSite) == 240);

// A block that was sampled and is live.
struct LiveSample {
    // Zero: not in use.
    std::atomic<std::uint64_t> address;
    std::uint64_t bytes;
    // How many blocks like it there are, in fractions.
    std::uint64_t weight;
    std::uint64_t time_ns;
    // Of the thread that allocated it; see SampleClock.
    std::int64_t position;
    std::uint32_t clock_id;
    std::uint32_t site;
    // The next one in the same bucket, or among those not in use.
    std::uint32_t next;
    std::uint32_t unused;
};
static_assert(sizeof(LiveSample) == 56);

struct Profile {
    // SampleRate: what threads compare theirs to.
    std::atomic<std::uint64_t> rate;
    std::atomic<std::uint64_t> seed;
    // The rate's number at the start.
    std::atomic<std::uint32_t> first_rate_number;
    std::atomic<std::uint32_t> stack_depth;
    std::atomic<std::uint64_t> temporary_bytes;
    // os::monotonic_ns; zero when it was never started, or runs, respectively.
    std::atomic<std::uint64_t> started_ns;
    std::atomic<std::uint64_t> stopped_ns;
    std::atomic<std::uint64_t> marked_ns;

    std::atomic<std::uint64_t> samples;
    // Samples whose site, or whose block, found no room.
    std::atomic<std::uint64_t> dropped_sites;
    std::atomic<std::uint64_t> dropped_blocks;
    ProfileSum live;
    std::atomic<std::uint64_t> peak_bytes;

    // Those with lower numbers were used; the first of each is never in a chain.
    std::atomic<std::uint32_t> used_sites;
    std::atomic<std::uint32_t> used_samples;
    std::uint32_t free_samples;
    // Which of the user's signals a profile begins with, 1 or 2; zero: it waits for none.
    std::atomic<std::uint32_t> awaited_signal;
    // Numbers of the first in each bucket.
    std::array<std::uint32_t, 2 * kMaxSites> site_buckets;
    std::array<std::atomic<std::uint32_t>, kMaxLiveSamples> sample_buckets;
    std::array<ProfileSite, kMaxSites> sites;
    std::array<LiveSample, kMaxLiveSamples> live_samples;
};

}  // namespace ouro::detail
