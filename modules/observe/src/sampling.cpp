#include "profile_tables.hpp"

#include <ouro/base/math.hpp>
#include <ouro/base/random.hpp>
#include <ouro/observe/detail/sampling.hpp>
#include <ouro/os/clock.hpp>
#include <ouro/os/stack_trace.hpp>

#include <algorithm>
#include <array>

namespace ouro::detail {
namespace {

std::uint64_t number_of(const void* address) noexcept {
    return reinterpret_cast<std::uintptr_t>(address);
}

// What the calling thread counts with: its own, or the common one.
SampleClock& own_clock(Ledger& ledger) noexcept {
    LedgerShard& shard = t_ledger.shard != nullptr ? *t_ledger.shard : ledger.shards[0];
    SampleClock& clock = shard.samples;
    if (clock.id.load(std::memory_order_relaxed) == 0)
        clock.id.store(static_cast<std::uint32_t>(&shard - ledger.shards.data()) + 1,
                       std::memory_order_relaxed);
    return clock;
}

// Bytes up to the next point of a Poisson process with this mean distance.
std::int64_t draw_countdown(const Profile& profile, SampleClock& clock, const SampleRate& rate) noexcept {
    const std::uint32_t draw = clock.draws.load(std::memory_order_relaxed);
    clock.draws.store(draw + 1, std::memory_order_relaxed);
    const std::uint32_t change = rate.number - profile.first_rate_number.load(std::memory_order_relaxed);
    const std::uint64_t stream = clock.id.load(std::memory_order_relaxed) | std::uint64_t{change} << 32;
    const std::uint64_t bits = random_at(profile.seed.load(std::memory_order_relaxed), stream, draw);
    // Uniform in (0, 1].
    const double uniform = static_cast<double>((bits >> 11) + 1) * 0x1.0p-53;
    return static_cast<std::int64_t>(-math::log(uniform) * static_cast<double>(rate.mean_bytes));
}

void set_left(SampleClock& clock, std::int64_t left) noexcept {
    clock.end.store(clock.position() + left, std::memory_order_relaxed);
    clock.left.store(left, std::memory_order_relaxed);
}

void raise_to(std::atomic<std::uint64_t>& peak, const ProfileSum& live) noexcept {
    const std::uint64_t bytes = live.bytes.load(std::memory_order_relaxed);
    if (bytes > peak.load(std::memory_order_relaxed)) peak.store(bytes, std::memory_order_relaxed);
}

void add_one(std::atomic<std::uint64_t>& count) noexcept {
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void add_live(Profile& profile, ProfileSite& site, std::uint64_t bytes, std::uint64_t weight) noexcept {
    add_to_sum(site.live, bytes, weight);
    add_to_sum(profile.live, bytes, weight);
    raise_to(site.peak_bytes, site.live);
    raise_to(profile.peak_bytes, profile.live);
}

void take_live(Profile& profile, ProfileSite& site, std::uint64_t bytes, std::uint64_t weight) noexcept {
    take_from_sum(site.live, bytes, weight);
    take_from_sum(profile.live, bytes, weight);
}

void end_sample(Profile& profile, LiveSample& sample) noexcept {
    ProfileSite& site = profile.sites[sample.site];
    take_live(profile, site, weighted_bytes(sample), sample.weight);
    site.live_samples.store(site.live_samples.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    remove_sample(profile, sample);
}

// A sample is a LiveSample, or one that was taken out.
template <class Sample>
bool was_temporary(const Profile& profile, const Sample& sample, const SampleClock& clock) noexcept {
    if (sample.clock_id != clock.id.load(std::memory_order_relaxed)) return false;
    const std::int64_t distance = clock.position() - sample.position;
    return distance >= 0 &&
           static_cast<std::uint64_t>(distance) <= profile.temporary_bytes.load(std::memory_order_relaxed);
}

// The block as part of what is live at its site.
bool keep_sample(Profile& profile, std::uint32_t site_number, const SampledBlock& block, std::uint64_t weight,
                 const SampleClock& clock) noexcept {
    const std::uint64_t address = number_of(block.address);
    // What ended without being freed one by one.
    if (LiveSample* const old = find_sample(profile, address)) end_sample(profile, *old);
    LiveSample* const sample = add_sample(profile, address);
    if (sample == nullptr) return false;
    sample->bytes = block.bytes;
    sample->weight = weight;
    sample->time_ns = os::monotonic_ns();
    sample->position = clock.position();
    sample->clock_id = clock.id.load(std::memory_order_relaxed);
    sample->site = site_number;
    ProfileSite& site = profile.sites[site_number];
    site.last_ns.store(sample->time_ns, std::memory_order_relaxed);
    add_one(site.live_samples);
    add_live(profile, site, weighted_bytes(*sample), weight);
    return true;
}

constinit std::atomic<std::uint32_t> g_next_clock = kMaxShards + 1;

// Several threads draw from the common clock. Who comes when another has begun the next countdown already
// counts for that one.
std::uint64_t begin_own_countdown(SampleClock& clock, std::size_t bytes) noexcept {
    if (t_ledger.shard != nullptr) return begin_countdown(clock, bytes);
    const ProfileScope scope;
    if (!scope) return 0;
    const bool is_begun = clock.left.load(std::memory_order_relaxed) >= 0;
    return is_begun && !is_shared_sample_due(bytes) ? 0 : begin_countdown(clock, bytes);
}

}  // namespace

std::uint32_t new_clock_id() noexcept {
    return g_next_clock.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t begin_countdown(SampleClock& clock, std::size_t bytes, std::int64_t look_bytes) noexcept {
    const ObserveImage* const image = observe_image();
    if (image == nullptr) return 0;
    const Profile& profile = image->profile;
    const std::uint64_t word = profile.rate.load(std::memory_order_acquire);
    const SampleRate rate = SampleRate::from_word(word);
    if (rate.mean_bytes == 0) {
        set_left(clock, look_bytes);
        return 0;
    }
    if (clock.rate.load(std::memory_order_relaxed) != word) {
        // Whether it was these bytes' turn is decided at the present rate.
        clock.rate.store(word, std::memory_order_relaxed);
        clock.draws.store(0, std::memory_order_relaxed);
        const std::int64_t left = draw_countdown(profile, clock, rate) - static_cast<std::int64_t>(bytes);
        if (left >= 0) {
            set_left(clock, left);
            return 0;
        }
    }
    set_left(clock, draw_countdown(profile, clock, rate));
    return rate.mean_bytes;
}

bool record_sample(const SampledBlock& block, const SampleClock& clock) noexcept {
    const ProfileScope profile;
    if (!profile) return false;
    const std::uint64_t weight = weight_of(block.bytes, block.mean_bytes);
    const std::uint32_t number = find_site(*profile, block.tag, block.stack);
    ProfileSite& site = profile->sites[number];
    add_one(profile->samples);
    add_one(site.samples);
    if (number == 0) add_one(profile->dropped_sites);
    add_to_sum(site.allocated, weighted_bytes(block.bytes, weight), weight);
    if (block.address != nullptr && keep_sample(*profile, number, block, weight, clock)) return true;
    add_one(profile->dropped_blocks);
    return false;
}

bool may_be_sampled(const void* block) noexcept {
    ObserveImage* const image = observe_image();
    if (image == nullptr) return false;
    return bucket_of(image->profile, number_of(block)).load(std::memory_order_relaxed) != 0;
}

std::size_t sampled_size(const void* block) noexcept {
    const ProfileScope profile;
    const LiveSample* const sample = profile ? find_sample(*profile, number_of(block)) : nullptr;
    return sample != nullptr ? static_cast<std::size_t>(sample->bytes) : 0;
}

std::size_t forget_sampled_block(const void* block, const SampleClock& clock) noexcept {
    const ProfileScope profile;
    LiveSample* const sample = profile ? find_sample(*profile, number_of(block)) : nullptr;
    if (sample == nullptr) return 0;
    if (was_temporary(*profile, *sample, clock))
        add_to_sum(profile->sites[sample->site].temporary, weighted_bytes(*sample), sample->weight);
    const std::uint64_t bytes = sample->bytes;
    end_sample(*profile, *sample);
    return static_cast<std::size_t>(bytes);
}

bool is_shared_sample_due(std::size_t bytes) noexcept {
    ObserveImage* const image = observe_image();
    if (image == nullptr) return false;
    const auto count = static_cast<std::int64_t>(bytes);
    return image->ledger.shards[0].samples.left.fetch_sub(count, std::memory_order_relaxed) < count;
}

void uncount_sample(std::size_t bytes) noexcept {
    const auto count = static_cast<std::int64_t>(bytes);
    if (LedgerShard* const shard = t_ledger.shard) return add_to(shard->samples.left, count);
    if (ObserveImage* const image = observe_image())
        image->ledger.shards[0].samples.left.fetch_add(count, std::memory_order_relaxed);
}

bool sample_allocation(MemoryBlock block, Tag tag, std::size_t bytes, const void* caller) noexcept {
    ObserveImage* const image = observe_image();
    if (image == nullptr) return false;
    SampleClock& clock = own_clock(image->ledger);
    const std::uint64_t mean = begin_own_countdown(clock, bytes);
    if (mean == 0) return false;
    std::array<void*, kMaxSiteFrames> frames;
    const std::size_t depth = image->profile.stack_depth.load(std::memory_order_relaxed);
    const std::size_t count =
        os::capture_callers(std::span(frames).first(std::min(depth, frames.size())), caller);
    const SampledBlock sampled{.address = block.data,
                               .bytes = block.size,
                               .tag = tag,
                               .stack = std::span(frames).first(count),
                               .mean_bytes = mean};
    return record_sample(sampled, clock);
}

void forget_sample(const void* block) noexcept {
    if (ObserveImage* const image = observe_image())
        static_cast<void>(forget_sampled_block(block, own_clock(image->ledger)));
}

namespace {

bool is_of(const TakenSample& sample, const Profile& profile) noexcept {
    return sample.weight != 0 && sample.started_ns == profile.started_ns.load(std::memory_order_relaxed);
}

void end_live(Profile& profile, const TakenSample& sample) noexcept {
    ProfileSite& site = profile.sites[sample.site];
    take_live(profile, site, weighted_bytes(sample.bytes, sample.weight), sample.weight);
    site.live_samples.store(site.live_samples.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

}  // namespace

TakenSample take_sample(const void* block) noexcept {
    const ProfileScope profile;
    LiveSample* const sample = profile ? find_sample(*profile, number_of(block)) : nullptr;
    if (sample == nullptr) return {};
    const TakenSample taken{.bytes = sample->bytes,
                            .weight = sample->weight,
                            .time_ns = sample->time_ns,
                            .position = sample->position,
                            .clock_id = sample->clock_id,
                            .site = sample->site,
                            .started_ns = profile->started_ns.load(std::memory_order_relaxed)};
    remove_sample(*profile, *sample);
    return taken;
}

void put_back_sample(const void* block, const TakenSample& sample) noexcept {
    const ProfileScope profile;
    if (!profile || !is_of(sample, *profile)) return;
    LiveSample* const again = add_sample(*profile, number_of(block));
    if (again == nullptr) return end_live(*profile, sample);
    again->bytes = sample.bytes;
    again->weight = sample.weight;
    again->time_ns = sample.time_ns;
    again->position = sample.position;
    again->clock_id = sample.clock_id;
    again->site = sample.site;
}

void end_taken_sample(const TakenSample& sample) noexcept {
    ObserveImage* const image = observe_image();
    const ProfileScope profile;
    if (image == nullptr || !profile || !is_of(sample, *profile)) return;
    if (was_temporary(*profile, sample, own_clock(image->ledger)))
        add_to_sum(profile->sites[sample.site].temporary, weighted_bytes(sample.bytes, sample.weight),
                   sample.weight);
    end_live(*profile, sample);
}

}  // namespace ouro::detail
