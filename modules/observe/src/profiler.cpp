#include "ledger_shards.hpp"
#include "profile_tables.hpp"

#include <ouro/base/hash.hpp>
#include <ouro/observe/profiler.hpp>
#include <ouro/os/clock.hpp>
#include <ouro/os/process_barrier.hpp>

#include <algorithm>

namespace ouro {
namespace {

using detail::kMaxSiteFrames;
using detail::ObserveImage;
using detail::Profile;
using detail::ProfileScope;
using detail::ProfileSite;
using detail::ProfileSum;
using detail::SampleRate;

bool is_mean(std::uint64_t bytes) noexcept {
    return bytes != 0 && bytes <= SampleRate::kMostMean;
}

SampleRate current_rate(const Profile& profile) noexcept {
    return SampleRate::from_word(profile.rate.load(std::memory_order_relaxed));
}

// Threads notice when their countdowns end.
std::uint32_t change_rate(Profile& profile, std::uint64_t mean_bytes) noexcept {
    const SampleRate rate{mean_bytes, current_rate(profile).number + 1};
    profile.rate.store(rate.word(), std::memory_order_release);
    return SampleRate::from_word(rate.word()).number;
}

// The countdown ends with the thread's next allocation, unless it was drawn at this rate already.
void end_countdown(detail::SampleClock& clock, std::uint64_t rate) noexcept {
    std::int64_t left = clock.left.load(std::memory_order_acquire);
    if (clock.rate.load(std::memory_order_acquire) != rate)
        clock.left.compare_exchange_strong(left, 0, std::memory_order_relaxed);
}

// The countdowns of all threads end with their next allocations. A thread in the middle of counting may undo
// that with its store; by the second round it is through.
void end_countdowns(ObserveImage& image) noexcept {
    const std::uint64_t rate = image.profile.rate.load(std::memory_order_relaxed);
    for (int round = 0; round < 2; ++round) {
        detail::visit_shards(
            image.ledger, [&](detail::LedgerShard& shard) noexcept { end_countdown(shard.samples, rate); });
        static_cast<void>(os::process_barrier());
    }
}

ProfileAmount amount_of(const ProfileSum& sum) noexcept {
    constexpr std::uint64_t kHalf = std::uint64_t{1} << (detail::kBlockFractionBits - 1);
    const std::uint64_t fractions = sum.block_fractions.load(std::memory_order_relaxed);
    return {sum.bytes.load(std::memory_order_relaxed), (fractions + kHalf) >> detail::kBlockFractionBits};
}

SiteProfile copy_site(const Profile& profile, std::uint32_t number) noexcept {
    const ProfileSite& site = profile.sites[number];
    SiteProfile copy{.number = number,
                     .tag = Tag::from_id(site.tag),
                     .live = amount_of(site.live),
                     .allocated = amount_of(site.allocated),
                     .temporary = amount_of(site.temporary),
                     .peak_bytes = site.peak_bytes.load(std::memory_order_relaxed),
                     .samples = site.samples.load(std::memory_order_relaxed),
                     .live_samples = site.live_samples.load(std::memory_order_relaxed),
                     .frame_count = std::min<std::size_t>(site.frame_count, kMaxSiteFrames),
                     .frames = site.frames};
    const ProfileAmount before = amount_of(site.marked);
    copy.growth_bytes = static_cast<std::int64_t>(copy.live.bytes - before.bytes);
    copy.growth_blocks = static_cast<std::int64_t>(copy.live.blocks - before.blocks);
    return copy;
}

std::uint64_t bytes_by(const ProfileSite& site, SiteOrder order) noexcept {
    const auto get = [](const std::atomic<std::uint64_t>& bytes) noexcept {
        return bytes.load(std::memory_order_relaxed);
    };
    switch (order) {
        case SiteOrder::live:
            return get(site.live.bytes);
        case SiteOrder::allocated:
            return get(site.allocated.bytes);
        case SiteOrder::temporary:
            return get(site.temporary.bytes);
        case SiteOrder::growth:
            return get(site.live.bytes) - std::min(get(site.live.bytes), get(site.marked.bytes));
        case SiteOrder::peak:
            return get(site.peak_bytes);
    }
    return 0;
}

}  // namespace

Expected<void> start_profiler(const ProfilerOptions& options) noexcept {
    const bool is_depth = options.stack_depth != 0 && options.stack_depth <= kMaxSiteFrames;
    if (!is_mean(options.mean_bytes) || !is_depth) return Status::bad_argument;
    ObserveImage* const image = detail::observe_image();
    if (image == nullptr) return Status::out_of_memory;
    detail::keep_tables_through_forks();
    {
        const ProfileScope profile;
        if (!profile || current_rate(*profile).mean_bytes != 0) return Status::busy;
        detail::clear_tables(*profile);
        const std::uint64_t now = os::monotonic_ns();
        profile->seed.store(options.seed != 0 ? options.seed : mix_bits(now), std::memory_order_relaxed);
        profile->stack_depth.store(static_cast<std::uint32_t>(options.stack_depth),
                                   std::memory_order_relaxed);
        profile->temporary_bytes.store(options.temporary_bytes, std::memory_order_relaxed);
        profile->started_ns.store(now, std::memory_order_relaxed);
        profile->stopped_ns.store(0, std::memory_order_relaxed);
        const SampleRate next{0, current_rate(*profile).number + 1};
        profile->first_rate_number.store(SampleRate::from_word(next.word()).number,
                                         std::memory_order_relaxed);
        change_rate(*profile, options.mean_bytes);
    }
    end_countdowns(*image);
    return {};
}

void stop_profiler() noexcept {
    const ProfileScope profile;
    if (!profile || current_rate(*profile).mean_bytes == 0) return;
    change_rate(*profile, 0);
    profile->stopped_ns.store(os::monotonic_ns(), std::memory_order_relaxed);
}

Expected<void> start_configured_profiler(const MemoryConfig& config) noexcept {
    if (config.profile_sampling_bytes == 0) return {};
    return start_profiler({.mean_bytes = config.profile_sampling_bytes});
}

Expected<void> set_profiler_mean(std::size_t mean_bytes) noexcept {
    if (!is_mean(mean_bytes)) return Status::bad_argument;
    ObserveImage* const image = detail::observe_image();
    if (image == nullptr) return Status::not_found;
    {
        const ProfileScope profile;
        if (!profile || current_rate(*profile).mean_bytes == 0) return Status::not_found;
        change_rate(*profile, mean_bytes);
    }
    end_countdowns(*image);
    return {};
}

std::span<SiteProfile> top_sites(SiteOrder order, std::span<SiteProfile> sites) noexcept {
    const ProfileScope profile;
    if (!profile || sites.empty()) return {};
    // A heap of the best so far, the least of them on top. Only their numbers are kept until the end.
    const auto is_better = [&](const SiteProfile& one, const SiteProfile& other) noexcept {
        return bytes_by(profile->sites[one.number], order) > bytes_by(profile->sites[other.number], order);
    };
    std::size_t count = 0;
    const std::uint32_t used = profile->used_sites.load(std::memory_order_relaxed);
    for (std::uint32_t number = 0; number < used; ++number) {
        if (bytes_by(profile->sites[number], order) == 0) continue;
        if (count == sites.size()) {
            if (bytes_by(profile->sites[number], order) <= bytes_by(profile->sites[sites[0].number], order))
                continue;
            std::pop_heap(sites.begin(), sites.end(), is_better);
            --count;
        }
        sites[count++].number = number;
        std::push_heap(sites.begin(), sites.begin() + static_cast<std::ptrdiff_t>(count), is_better);
    }
    const auto top = sites.first(count);
    std::sort_heap(top.begin(), top.end(), is_better);
    for (SiteProfile& site : top)
        site = copy_site(*profile, site.number);
    return top;
}

std::size_t site_count() noexcept {
    const ObserveImage* const image = detail::observe_image();
    return image == nullptr ? 0 : image->profile.used_sites.load(std::memory_order_acquire);
}

SiteProfile read_site(std::size_t number) noexcept {
    const ProfileScope profile;
    if (!profile || number >= profile->used_sites.load(std::memory_order_relaxed)) return {};
    return copy_site(*profile, static_cast<std::uint32_t>(number));
}

void mark_growth() noexcept {
    const ProfileScope profile;
    if (!profile) return;
    const std::uint32_t used = profile->used_sites.load(std::memory_order_relaxed);
    for (std::uint32_t number = 0; number < used; ++number) {
        ProfileSite& site = profile->sites[number];
        site.marked.bytes.store(site.live.bytes.load(std::memory_order_relaxed), std::memory_order_relaxed);
        site.marked.block_fractions.store(site.live.block_fractions.load(std::memory_order_relaxed),
                                          std::memory_order_relaxed);
    }
    profile->marked_ns.store(os::monotonic_ns(), std::memory_order_relaxed);
}

ProfilerState profiler_state() noexcept {
    const ProfileScope profile;
    if (!profile) return {};
    const auto mean = current_rate(*profile).mean_bytes;
    const auto get = [](const std::atomic<std::uint64_t>& number) noexcept {
        return number.load(std::memory_order_relaxed);
    };
    return {.is_running = mean != 0,
            .mean_bytes = static_cast<std::size_t>(mean),
            .started_ns = get(profile->started_ns),
            .stopped_ns = get(profile->stopped_ns),
            .samples = get(profile->samples),
            .dropped_sites = get(profile->dropped_sites),
            .dropped_blocks = get(profile->dropped_blocks),
            .live = amount_of(profile->live),
            .peak_bytes = get(profile->peak_bytes)};
}

}  // namespace ouro
