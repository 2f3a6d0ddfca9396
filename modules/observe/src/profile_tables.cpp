#include "profile_tables.hpp"

#include <ouro/base/hash.hpp>
#include <ouro/base/math.hpp>
#include <ouro/memory/detail/word_lock.hpp>
#include <ouro/observe/detail/sampling.hpp>
#include <ouro/os/fork_hooks.hpp>

#include <algorithm>

namespace ouro::detail {
namespace {

constinit WordLock g_lock;
constinit std::atomic<bool> g_has_hooks = false;

enum class Holding : unsigned char { nothing, tables, tables_for_fork };
[[gnu::tls_model("initial-exec")]] constinit thread_local Holding t_holding = Holding::nothing;

// Other hooks may allocate and free between these.
void lock_for_fork(void*) noexcept {
    t_holding = Holding::tables;
    g_lock.lock();
    t_holding = Holding::tables_for_fork;
}
void unlock_after_fork(void*) noexcept {
    g_lock.unlock();
    t_holding = Holding::nothing;
}

std::uint64_t hash_of(Tag tag, std::span<void* const> stack) noexcept {
    std::uint64_t hash = tag.id();
    for (const void* const frame : stack)
        hash = combine_hash(hash, reinterpret_cast<std::uintptr_t>(frame));
    return hash;
}

bool is_same(const ProfileSite& site, Tag tag, std::span<void* const> stack) noexcept {
    if (site.tag != tag.id() || site.frame_count != stack.size()) return false;
    return std::equal(stack.begin(), stack.end(), site.frames.begin(),
                      [](const void* frame, std::uint64_t known) noexcept {
                          return reinterpret_cast<std::uintptr_t>(frame) == known;
                      });
}

void link_sample(Profile& profile, LiveSample& sample, std::uint64_t address) noexcept {
    auto& bucket = bucket_of(profile, address);
    sample.next = bucket.load(std::memory_order_relaxed);
    sample.address.store(address, std::memory_order_relaxed);
    bucket.store(static_cast<std::uint32_t>(&sample - profile.live_samples.data()),
                 std::memory_order_release);
}

void unlink_sample(Profile& profile, const LiveSample& sample) noexcept {
    auto& bucket = bucket_of(profile, sample.address.load(std::memory_order_relaxed));
    const auto number = static_cast<std::uint32_t>(&sample - profile.live_samples.data());
    std::uint32_t at = bucket.load(std::memory_order_relaxed);
    if (at == number) return bucket.store(sample.next, std::memory_order_relaxed);
    while (profile.live_samples[at].next != number)
        at = profile.live_samples[at].next;
    profile.live_samples[at].next = sample.next;
}

void clear_sum(ProfileSum& sum) noexcept {
    sum.bytes.store(0, std::memory_order_relaxed);
    sum.block_fractions.store(0, std::memory_order_relaxed);
}

void clear_site(ProfileSite& site) noexcept {
    for (ProfileSum* const sum : {&site.live, &site.allocated, &site.temporary, &site.marked})
        clear_sum(*sum);
    for (auto* const count : {&site.peak_bytes, &site.samples, &site.live_samples, &site.last_ns})
        count->store(0, std::memory_order_relaxed);
    site.frame_count = 0;
    site.tag = 0;
}

// Without touching what was never used.
void clear_samples(Profile& profile) noexcept {
    const std::uint32_t used = profile.used_samples.load(std::memory_order_relaxed);
    if (used > 1) {
        for (auto& bucket : profile.sample_buckets)
            bucket.store(0, std::memory_order_relaxed);
    }
    for (std::uint32_t number = 0; number < used; ++number)
        profile.live_samples[number].address.store(0, std::memory_order_relaxed);
    profile.free_samples = 0;
    profile.used_samples.store(1, std::memory_order_relaxed);
}

}  // namespace

ProfileScope::ProfileScope() noexcept {
    ObserveImage* const image = observe_image();
    if (image == nullptr || t_holding == Holding::tables) return;
    profile_ = &image->profile;
    if (t_holding == Holding::tables_for_fork) return;
    t_holding = Holding::tables;
    g_lock.lock();
    is_held_ = true;
}

ProfileScope::~ProfileScope() {
    if (!is_held_) return;
    g_lock.unlock();
    t_holding = Holding::nothing;
}

void keep_tables_through_forks() noexcept {
    if (g_has_hooks.load(std::memory_order_acquire)) return;
    static_cast<void>(os::add_fork_hooks(
        {.prepare = lock_for_fork, .parent = unlock_after_fork, .child = unlock_after_fork}));
    g_has_hooks.store(true, std::memory_order_release);
}

bool prepare_profiler(std::uint32_t awaited_signal) noexcept {
    ObserveImage* const image = observe_image();
    if (image == nullptr) return false;
    keep_tables_through_forks();
    image->profile.awaited_signal.store(awaited_signal, std::memory_order_relaxed);
    return true;
}

bool is_inside_profile() noexcept {
    return t_holding == Holding::tables;
}

void clear_tables(Profile& profile) noexcept {
    const std::uint32_t used = profile.used_sites.load(std::memory_order_relaxed);
    if (used > 1) profile.site_buckets.fill(0);
    for (std::uint32_t number = 0; number < used; ++number)
        clear_site(profile.sites[number]);
    profile.used_sites.store(1, std::memory_order_relaxed);
    clear_samples(profile);
    clear_sum(profile.live);
    for (auto* const count : {&profile.samples, &profile.dropped_sites, &profile.dropped_blocks,
                              &profile.peak_bytes, &profile.marked_ns})
        count->store(0, std::memory_order_relaxed);
}

std::uint32_t find_site(Profile& profile, Tag tag, std::span<void* const> stack) noexcept {
    stack = stack.first(std::min(stack.size(), kMaxSiteFrames));
    const std::uint64_t hash = hash_of(tag, stack);
    std::uint32_t& bucket = profile.site_buckets[hash % profile.site_buckets.size()];
    for (std::uint32_t number = bucket; number != 0; number = profile.sites[number].next) {
        const ProfileSite& site = profile.sites[number];
        if (site.hash == hash && is_same(site, tag, stack)) return number;
    }
    const std::uint32_t number = profile.used_sites.load(std::memory_order_relaxed);
    if (number >= kMaxSites) return 0;
    ProfileSite& site = profile.sites[number];
    site.hash = hash;
    site.next = bucket;
    site.tag = tag.id();
    site.frame_count = static_cast<std::uint16_t>(stack.size());
    std::transform(stack.begin(), stack.end(), site.frames.begin(), [](const void* frame) noexcept {
        return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(frame));
    });
    bucket = number;
    profile.used_sites.store(number + 1, std::memory_order_release);
    return number;
}

std::atomic<std::uint32_t>& bucket_of(Profile& profile, std::uint64_t address) noexcept {
    return profile.sample_buckets[mix_bits(address) % kMaxLiveSamples];
}

LiveSample* find_sample(Profile& profile, std::uint64_t address) noexcept {
    std::uint32_t number = bucket_of(profile, address).load(std::memory_order_relaxed);
    for (; number != 0; number = profile.live_samples[number].next) {
        LiveSample& sample = profile.live_samples[number];
        if (sample.address.load(std::memory_order_relaxed) == address) return &sample;
    }
    return nullptr;
}

LiveSample* add_sample(Profile& profile, std::uint64_t address) noexcept {
    std::uint32_t number = profile.free_samples;
    if (number != 0) {
        profile.free_samples = profile.live_samples[number].next;
    } else {
        number = profile.used_samples.load(std::memory_order_relaxed);
        if (number >= kMaxLiveSamples) return nullptr;
        profile.used_samples.store(number + 1, std::memory_order_relaxed);
    }
    LiveSample& sample = profile.live_samples[number];
    link_sample(profile, sample, address);
    return &sample;
}

void remove_sample(Profile& profile, LiveSample& sample) noexcept {
    unlink_sample(profile, sample);
    sample.address.store(0, std::memory_order_relaxed);
    sample.next = profile.free_samples;
    profile.free_samples = static_cast<std::uint32_t>(&sample - profile.live_samples.data());
}

std::uint64_t weight_of(std::uint64_t bytes, std::uint64_t mean_bytes) noexcept {
    const double share = static_cast<double>(bytes) / static_cast<double>(mean_bytes);
    // 1 - exp(-share), which has too few digits of its own where the share is small.
    constexpr double kSmall = 1e-5;
    const double chance = share < kSmall ? share - share * share / 2 : 1 - math::exp(-share);
    constexpr double kOne = static_cast<double>(std::uint64_t{1} << kBlockFractionBits);
    return static_cast<std::uint64_t>(kOne / chance + 0.5);
}

}  // namespace ouro::detail
