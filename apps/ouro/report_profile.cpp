#include "report_parts.hpp"

#include <ouro/observe/detail/profile_layout.hpp>

#include <algorithm>
#include <tuple>

namespace ouro {
namespace {

using detail::Profile;
using detail::ProfileSite;
using detail::ProfileSum;

// The lower bits of the word that threads compare theirs to are the mean distance of samples.
constexpr std::uint64_t kMeanMask = (std::uint64_t{1} << 40) - 1;

AmountReport read_sum(const ProfileSum& sum) {
    constexpr std::uint64_t kHalf = std::uint64_t{1} << (detail::kBlockFractionBits - 1);
    return {.bytes = at_least_zero(load(sum.bytes)),
            .blocks = (at_least_zero(load(sum.block_fractions)) + kHalf) >> detail::kBlockFractionBits};
}

// As `kill` takes it.
std::string signal_text(std::uint64_t user_signal) {
    return user_signal == 1 || user_signal == 2 ? "USR" + std::to_string(user_signal) : "";
}

SiteReport read_site(const ProfileSite& site, std::size_t number, const Report& report) {
    SiteReport result;
    result.number = number;
    result.tag = name_of_tag(report, site.tag);
    result.live = read_sum(site.live);
    result.allocated = read_sum(site.allocated);
    result.temporary = read_sum(site.temporary);
    result.growth_bytes = static_cast<std::int64_t>(at_least_zero(load(site.live.bytes)) -
                                                    at_least_zero(load(site.marked.bytes)));
    result.peak_bytes = at_least_zero(load(site.peak_bytes));
    result.samples = load(site.samples);
    result.live_samples = load(site.live_samples);
    const std::size_t frames = std::min<std::size_t>(site.frame_count, site.frames.size());
    for (std::size_t index = 0; index < frames; ++index)
        result.frames.emplace_back().address = site.frames[index];
    return result;
}

std::int64_t bytes_of(const SiteReport& site, SiteSorting sorting) {
    switch (sorting) {
        case SiteSorting::allocated:
            return static_cast<std::int64_t>(site.allocated.bytes);
        case SiteSorting::temporary:
            return static_cast<std::int64_t>(site.temporary.bytes);
        case SiteSorting::growth:
            return site.growth_bytes;
        case SiteSorting::peak:
            return static_cast<std::int64_t>(site.peak_bytes);
        case SiteSorting::live:
            break;
    }
    return static_cast<std::int64_t>(site.live.bytes);
}

}  // namespace

void read_profile(const Profile& profile, Report& report) {
    if (load(profile.started_ns) == 0) {
        report.awaited_signal = signal_text(load(profile.awaited_signal));
        return;
    }
    const std::uint64_t stopped_ns = load(profile.stopped_ns);
    ProfileReport result;
    result.is_running = stopped_ns == 0;
    result.seconds =
        seconds_between(load(profile.started_ns), stopped_ns == 0 ? report.taken_ns : stopped_ns);
    result.mean_bytes = load(profile.rate) & kMeanMask;
    result.samples = load(profile.samples);
    result.dropped_sites = load(profile.dropped_sites);
    result.dropped_blocks = load(profile.dropped_blocks);
    result.live = read_sum(profile.live);
    result.peak_bytes = at_least_zero(load(profile.peak_bytes));
    const std::size_t used = std::min<std::size_t>(load(profile.used_sites), profile.sites.size());
    for (std::size_t number = 0; number < used; ++number) {
        if (load(profile.sites[number].samples) != 0)
            result.sites.push_back(read_site(profile.sites[number], number, report));
    }
    report.profile = std::move(result);
    sort_sites(report, SiteSorting::live);
}

void sort_sites(Report& report, SiteSorting sorting) {
    if (!report.profile) return;
    std::sort(report.profile->sites.begin(), report.profile->sites.end(),
              [sorting](const SiteReport& one, const SiteReport& other) {
                  return std::tuple(bytes_of(other, sorting), one.number) <
                         std::tuple(bytes_of(one, sorting), other.number);
              });
    report.profile->sorting = sorting;
}

void leave_out_empty_sites(Report& report) {
    if (!report.profile) return;
    ProfileReport& profile = *report.profile;
    profile.empty_sites += std::erase_if(
        profile.sites, [&](const SiteReport& site) { return bytes_of(site, profile.sorting) == 0; });
}

void read_timeline(const detail::TimelineRing& ring, Report& report) {
    const std::uint64_t next = load(ring.next);
    const std::uint64_t kept = std::min<std::uint64_t>(next, ring.slots.size());
    for (std::uint64_t number = next - kept; number != next; ++number) {
        const detail::TimelineSlot& slot = ring.slots[number % ring.slots.size()];
        // Even, and of this moment; others are being written.
        if (load(slot.sequence) != 2 * number + 2) continue;
        MomentReport moment{.seconds_ago = seconds_between(load(slot.time_ns), report.taken_ns),
                            .live_bytes = load(slot.live_bytes),
                            .live_blocks = load(slot.live_blocks),
                            .resident_bytes = load(slot.resident_bytes),
                            .listed_bytes = load(slot.listed_bytes),
                            .record_bytes = load(slot.record_bytes),
                            .untracked_bytes = std::nullopt,
                            .allocated_bytes = load(slot.allocated_bytes),
                            .freed_bytes = load(slot.freed_bytes),
                            .allocations = load(slot.allocations),
                            .tags = {}};
        // As MetricsSnapshot::known_bytes: charged blocks lie in listed ones as a rule.
        const std::uint64_t known = std::max(moment.live_bytes, moment.listed_bytes) + moment.record_bytes;
        if (report.has_charges && moment.resident_bytes != 0)
            moment.untracked_bytes = moment.resident_bytes - std::min(known, moment.resident_bytes);
        for (const auto& word : slot.tags) {
            const std::uint64_t bytes = load(word) & ((std::uint64_t{1} << detail::kTimelineTagShift) - 1);
            if (bytes != 0)
                moment.tags.push_back({name_of_tag(report, load(word) >> detail::kTimelineTagShift), bytes});
        }
        report.timeline.push_back(std::move(moment));
    }
}

}  // namespace ouro
