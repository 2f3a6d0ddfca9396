#pragma once

#include <ouro/base/math.hpp>
#include <ouro/observe/profiler.hpp>

#include <cstdint>

#include <gtest/gtest.h>

namespace ouro::test {

// The profiler for the length of a scope.
class Profiling {
public:
    explicit Profiling(const ProfilerOptions& options) { EXPECT_TRUE(start_profiler(options)); }
    ~Profiling() { stop_profiler(); }
    Profiling(const Profiling&) = delete;
    Profiling& operator=(const Profiling&) = delete;
};

// What all sites of the tag have together.
inline SiteProfile sum_of_sites(Tag tag) {
    SiteProfile sum{.tag = tag};
    for (std::size_t number = 0; number < site_count(); ++number) {
        const SiteProfile site = read_site(number);
        if (site.tag != tag) continue;
        sum.live.bytes += site.live.bytes;
        sum.live.blocks += site.live.blocks;
        sum.allocated.bytes += site.allocated.bytes;
        sum.allocated.blocks += site.allocated.blocks;
        sum.temporary.bytes += site.temporary.bytes;
        sum.temporary.blocks += site.temporary.blocks;
        sum.growth_bytes += site.growth_bytes;
        sum.samples += site.samples;
        sum.live_samples += site.live_samples;
    }
    return sum;
}

// What was allocated, and how far estimates of it may be off.
struct KnownAmount {
    double bytes = 0;
    double blocks = 0;
    double byte_variance = 0;
    double block_variance = 0;

    void add(double size, double mean) {
        const double chance = 1 - math::exp(-size / mean);
        bytes += size;
        blocks += 1;
        byte_variance += size * size * (1 - chance) / chance;
        block_variance += (1 - chance) / chance;
    }
};

inline void expect_near_truth(const ProfileAmount& estimate, const KnownAmount& truth) {
    constexpr double kSigmas = 4;
    // Weights are kept in fractions of a block.
    constexpr double kRounding = 0.001;
    EXPECT_NEAR(static_cast<double>(estimate.bytes), truth.bytes,
                kSigmas * math::sqrt(truth.byte_variance) + kRounding * truth.bytes);
    EXPECT_NEAR(static_cast<double>(estimate.blocks), truth.blocks,
                kSigmas * math::sqrt(truth.block_variance) + kRounding * truth.blocks + 1);
}

}  // namespace ouro::test
