#pragma once

#include "ring_oracle.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace ouro::testing_support {

// A ring with two segments and one for what lies outside, and the bounds of its history.
struct OracleCase {
    const char* name;
    Tracking first;
    Tracking second;
    std::uint32_t ticks;
    std::uint64_t history_bytes;
    bool packing = false;
    std::uint32_t dense_ticks = 0;
    std::uint32_t thinned_ticks = 0;
    std::uint32_t thin_every = 0;
    // Threads that pack; none: whoever commits.
    unsigned workers = 0;
    // Lines instead of pages, where writes are declared.
    bool fine = false;
    // So many pages at once are written now and then: more than a commit copies alone, where there are
    // workers. Its rings are larger, and live less long.
    std::uint32_t burst_pages = 0;
};

// A ring whose workers take part in copying.
constexpr OracleCase shared_case(const char* name, Tracking tracking, bool packing = false,
                                 bool fine = false) {
    return {.name = name,
            .first = tracking,
            .second = Tracking::declared,
            .ticks = 12,
            .history_bytes = 24 << 20,
            .packing = packing,
            .dense_ticks = 3,
            .workers = 2,
            .fine = fine,
            .burst_pages = 272};
}

inline constexpr std::array kOracleCases = {
    OracleCase{"Declared", Tracking::declared, Tracking::declared, 50, 16 << 20},
    OracleCase{"DeclaredWithFewTicks", Tracking::declared, Tracking::declared, 3, 16 << 20},
    OracleCase{"DeclaredWithFewBytes", Tracking::declared, Tracking::declared, 500, 3 << 20},
    OracleCase{"Compare", Tracking::compare, Tracking::compare, 50, 16 << 20},
    OracleCase{"Kernel", Tracking::kernel, Tracking::declared, 50, 16 << 20},
    OracleCase{"Protect", Tracking::declared, Tracking::protect, 50, 16 << 20},
    OracleCase{"Automatic", Tracking::automatic, Tracking::automatic, 20, 4 << 20},
    OracleCase{"Packed", Tracking::declared, Tracking::declared, 80, 16 << 20, true, 4},
    OracleCase{"PackedAtOnce", Tracking::declared, Tracking::declared, 80, 16 << 20, true, 0},
    OracleCase{"PackedWithFewBytes", Tracking::declared, Tracking::declared, 500, 5 << 20, true, 3},
    OracleCase{"PackedByWorkers", Tracking::declared, Tracking::declared, 80, 16 << 20, true, 4, 0, 0, 1},
    OracleCase{"PackedFewByWorkers", Tracking::declared, Tracking::declared, 500, 5 << 20, true, 3, 0, 0, 2},
    OracleCase{"Thinned", Tracking::declared, Tracking::declared, 12, 16 << 20, true, 3, 120, 5},
    OracleCase{"ThinnedWithFewBytes", Tracking::declared, Tracking::declared, 9, 5 << 20, true, 2, 500, 4},
    OracleCase{"ThinnedByWorkers", Tracking::declared, Tracking::compare, 12, 16 << 20, true, 3, 90, 8, 1},
    OracleCase{"ThinnedKernel", Tracking::kernel, Tracking::declared, 8, 16 << 20, true, 2, 64, 2},
    OracleCase{"ThinnedProtect", Tracking::declared, Tracking::protect, 5, 16 << 20, true, 9, 60, 7},
    OracleCase{"Fine", Tracking::declared, Tracking::declared, 50, 16 << 20, false, 0, 0, 0, 0, true},
    OracleCase{"FineWithFewTicks", Tracking::declared, Tracking::compare, 3, 16 << 20, false, 0, 0, 0, 1,
               true},
    OracleCase{"FineWithFewBytes", Tracking::declared, Tracking::declared, 500, 5 << 20, false, 0, 0, 0, 0,
               true},
    OracleCase{"FineKernel", Tracking::kernel, Tracking::declared, 50, 16 << 20, false, 0, 0, 0, 0, true},
    OracleCase{"FinePacked", Tracking::declared, Tracking::declared, 80, 16 << 20, true, 4, 0, 0, 1, true},
    OracleCase{"FinePackedAtOnce", Tracking::declared, Tracking::declared, 80, 16 << 20, true, 0, 0, 0, 0,
               true},
    OracleCase{"FineThinnedAtOnce", Tracking::declared, Tracking::declared, 60, 16 << 20, true, 0, 200, 2, 0,
               true},
    OracleCase{"FineThinned", Tracking::declared, Tracking::protect, 12, 16 << 20, true, 3, 120, 5, 0, true},
    shared_case("SharedDeclared", Tracking::declared),
    shared_case("SharedKernel", Tracking::kernel),
    shared_case("SharedProtect", Tracking::protect),
    shared_case("SharedCompare", Tracking::compare),
    shared_case("SharedPacked", Tracking::declared, true),
    shared_case("SharedFine", Tracking::declared, false, true),
};

// How long the ring of a seed lives: some for long, so that what adds up shows.
inline std::uint64_t oracle_steps(const OracleCase& with, std::uint64_t seed) {
    const std::uint64_t usual = with.burst_pages != 0 ? 60 : 700;
    if (seed % 4 == 2) return 2 * usual;
    return seed % 64 == 63 ? 50 * usual : usual;
}

// What a machine must have for it, or null.
inline const char* feature_for(Tracking tracking) {
    if (tracking == Tracking::kernel) return "userfaultfd_wp_async";
    return tracking == Tracking::protect ? "page_protection" : nullptr;
}

// What the runs of a case have come across, in all of its seeds together: one alone may miss it.
struct OracleSeen {
    std::uint64_t packed = 0;
    std::uint64_t thinned = 0;
    // Pages that one commit has captured, and one rollback has restored, at the most.
    std::uint64_t pages_captured = 0;
    std::uint64_t pages_restored = 0;
    std::uint64_t loads = 0;
    std::uint64_t hot_spells = 0;
    std::uint64_t failed_calls = 0;
};

// Room for the pages of a burst and some more.
inline std::size_t world_bytes(const OracleCase& with) {
    return (with.burst_pages == 0 ? 256 << 10 : 64 << 10) + with.burst_pages * kStatePageBytes;
}

inline void run_oracle(const OracleCase& with, std::uint64_t seed, OracleSeen& seen) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto is_fine = [&](Tracking tracking) { return with.fine && tracking == Tracking::declared; };
    const std::array segments = {
        SegmentOptions{
            .name = "world", .bytes = world_bytes(with), .tracking = with.first, .fine = is_fine(with.first)},
        SegmentOptions{.name = "script",
                       .bytes = 128 << 10,
                       .kind = SegmentKind::process_bound,
                       .tracking = with.second,
                       .fine = is_fine(with.second)},
        SegmentOptions{
            .name = OracleOutside::kSegment, .bytes = 64 << 10, .kind = SegmentKind::process_bound}};
    auto jobs = JobPool::create({.workers = with.workers});
    ASSERT_TRUE(jobs);
    auto ring = StateRing::create({.segments = segments,
                                   .history_ticks = with.ticks,
                                   .history_bytes = with.history_bytes,
                                   .packing = with.packing,
                                   .dense_ticks = with.dense_ticks,
                                   .thinned_ticks = with.thinned_ticks,
                                   .thin_every = with.thin_every,
                                   .jobs = with.workers == 0 ? nullptr : &*jobs});
    if (ring.status() == Status::not_supported) {
        const char* first = feature_for(with.first);
        GTEST_SKIP() << "needs " << (first != nullptr ? first : feature_for(with.second));
    }
    ASSERT_TRUE(ring) << status_name(ring.status());
    const bool is_calm = (with.packing || with.fine) && with.burst_pages == 0;
    RingOracle oracle(*ring, seed, is_calm, with.burst_pages);
    for (std::uint64_t step = 0; step < oracle_steps(with, seed); ++step) {
        SCOPED_TRACE("step " + std::to_string(step));
        oracle.step();
        if (testing::Test::HasFatalFailure()) return;
    }
    oracle.drop_all_views();
    seen.packed += oracle.most_packed();
    seen.thinned += oracle.thinned_seen();
    seen.loads += oracle.loads();
    seen.hot_spells += oracle.spells().spells();
    seen.failed_calls += oracle.spells().failures();
    seen.pages_captured = std::max(seen.pages_captured, oracle.most_captured());
    seen.pages_restored = std::max(seen.pages_restored, oracle.most_restored());
}

// Whether the runs came across all that the case is about. Workers pack when they come to it, which may be
// late on a busy machine.
inline bool has_seen_all(const OracleCase& with, const OracleSeen& seen) {
    constexpr std::uint64_t kSharedPages = 256;
    if (with.burst_pages != 0 && (seen.pages_captured < kSharedPages || seen.pages_restored < kSharedPages))
        return false;
    if (seen.loads == 0) return false;
    if (with.first == Tracking::kernel &&
        (seen.hot_spells == 0 || (os::kFaultInjection && seen.failed_calls == 0)))
        return false;
    if (with.workers != 0) return true;
    return ((!with.packing && !with.fine) || seen.packed != 0) &&
           (with.thinned_ticks == 0 || seen.thinned != 0);
}

// Seeds from the first one on until that many steps are done, as long as nothing fails. A few more where
// these went by without something.
inline void run_oracles(const OracleCase& with, std::uint64_t first, std::uint64_t steps) {
    constexpr std::uint64_t kMoreSeeds = 60;
    OracleSeen seen;
    std::uint64_t done = 0;
    std::uint64_t more = 0;
    for (std::uint64_t seed = first; done < steps || more < kMoreSeeds; ++seed) {
        if (done >= steps && (has_seen_all(with, seen) || ++more == kMoreSeeds)) break;
        run_oracle(with, seed, seen);
        if (testing::Test::HasFatalFailure() || testing::Test::IsSkipped()) return;
        done += oracle_steps(with, seed);
    }
    EXPECT_TRUE(has_seen_all(with, seen))
        << "packed " << seen.packed << ", thinned " << seen.thinned << ", captured " << seen.pages_captured
        << ", restored " << seen.pages_restored << ", loaded " << seen.loads << ", hot " << seen.hot_spells
        << ", failed " << seen.failed_calls;
}

}  // namespace ouro::testing_support
