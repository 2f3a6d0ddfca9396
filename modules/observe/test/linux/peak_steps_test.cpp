// A charge or a refund near a peak that is stopped anywhere, while another thread charges too: the peak is
// one of those that one after the other would have made.
#include "charges.hpp"
#include "fresh_tags.hpp"
#include "stop_everywhere.hpp"

#include <ouro/observe/ledger.hpp>

#include <algorithm>
#include <cstddef>
#include <initializer_list>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using test::fresh_tag;
using test::stop_everywhere;

constexpr std::size_t kPeak = 10'000;

// The peaks begin anew at this one, with nothing in use and credit for the calling thread.
void begin_below_a_peak(Tag tag) {
    reset_peaks();
    test::rest_below_a_peak(tag, kPeak);
    ASSERT_EQ(use_of(tag).peak_bytes, kPeak);
}

// Peaks that were exact: others are only known not to be too low. A busy machine stops threads for long.
std::size_t g_exact_peaks = 0;

void expect_peak(Tag tag, std::initializer_list<std::size_t> possible) {
    const TagUse use = use_of(tag);
    const std::size_t peak = use.peak_bytes;
    EXPECT_EQ(check_ledger(), Status::ok);
    if (!use.is_peak_exact) {
        EXPECT_GE(peak, std::min(possible));
        return;
    }
    ++g_exact_peaks;
    EXPECT_NE(std::find(possible.begin(), possible.end(), peak), possible.end()) << peak;
    // To the byte: as much as that is no new peak, more is.
    const std::size_t left = peak - use.live_bytes;
    EXPECT_EQ(test::charge(tag, left), Status::ok);
    EXPECT_EQ(use_of(tag).peak_bytes, peak);
    EXPECT_EQ(test::charge(tag, 1), Status::ok);
    EXPECT_EQ(use_of(tag).peak_bytes, peak + 1);
    test::refund(tag, left + 1);
}

void stop_near_peak(const test::Scene& scene, std::size_t least_stops) {
    g_exact_peaks = 0;
    stop_everywhere(scene, least_stops);
    if (!testing::Test::IsSkipped()) {
        EXPECT_GT(g_exact_peaks, 0U);
    }
}

TEST(PeakSteps, AChargeOutOfCreditAndANewPeakBesideIt) {
    const Tag tag = fresh_tag(fresh_tag());
    stop_near_peak({.prepare = [&] { begin_below_a_peak(tag); },
                    .stepped = [&] { ASSERT_EQ(test::charge(tag, 100), Status::ok); },
                    .other = {.meanwhile = [&] { EXPECT_EQ(test::charge(tag, kPeak - 50), Status::ok); }},
                    .check =
                        [&] {
                            expect_peak(tag, {kPeak + 50});
                            test::refund(tag, kPeak + 50);
                        }},
                   10);
}

TEST(PeakSteps, ARefundThatIsKeptAsCreditAndANewPeakBesideIt) {
    const Tag tag = fresh_tag(fresh_tag());
    stop_near_peak({.prepare =
                        [&] {
                            begin_below_a_peak(tag);
                            ASSERT_EQ(test::charge(tag, 100), Status::ok);
                        },
                    .stepped = [&] { test::refund(tag, 100); },
                    .other = {.meanwhile = [&] { EXPECT_EQ(test::charge(tag, kPeak - 50), Status::ok); }},
                    .check =
                        [&] {
                            expect_peak(tag, {kPeak, kPeak + 50});
                            test::refund(tag, kPeak - 50);
                        }},
                   5);
}

TEST(PeakSteps, TwoNewPeaks) {
    const Tag tag = fresh_tag(fresh_tag());
    stop_near_peak({.prepare = [&] { begin_below_a_peak(tag); },
                    .stepped = [&] { ASSERT_EQ(test::charge(tag, kPeak + 1'000), Status::ok); },
                    .other = {.meanwhile =
                                  [&] {
                                      EXPECT_EQ(test::charge(tag, 500), Status::ok);
                                      test::refund(tag, 500);
                                  }},
                    .check =
                        [&] {
                            expect_peak(tag, {kPeak + 1'000, kPeak + 1'500});
                            test::refund(tag, kPeak + 1'000);
                        }},
                   100);
}

// The other takes credit back that the first is about to be given.
TEST(PeakSteps, AGrantOfCreditAndANewPeakBesideIt) {
    const Tag tag = fresh_tag(fresh_tag());
    stop_near_peak({.prepare = [&] { begin_below_a_peak(tag); },
                    .stepped = [&] { ASSERT_EQ(test::charge(tag, 2'000), Status::ok); },
                    .other = {.meanwhile = [&] { EXPECT_EQ(test::charge(tag, kPeak - 500), Status::ok); }},
                    .check =
                        [&] {
                            expect_peak(tag, {kPeak + 1'500});
                            test::refund(tag, kPeak + 1'500);
                        }},
                   10);
}

// The other calls so often without a new peak that the climb ends, and keeps credit then.
TEST(PeakSteps, AClimbThatEndsAnywhereInAChargeAbove) {
    const Tag tag = fresh_tag(fresh_tag());
    stop_near_peak({.prepare =
                        [&] {
                            reset_peaks();
                            ASSERT_EQ(test::charge(tag, kPeak), Status::ok);
                            test::refund(tag, kPeak);
                        },
                    .stepped = [&] { ASSERT_EQ(test::charge(tag, kPeak + 1'000), Status::ok); },
                    .other = {.meanwhile =
                                  [&] {
                                      for (int call = 0; call < 1'000; ++call) {
                                          EXPECT_EQ(test::charge(tag, 1), Status::ok);
                                          test::refund(tag, 1);
                                      }
                                      EXPECT_EQ(test::charge(tag, 2'000), Status::ok);
                                      test::refund(tag, 2'000);
                                  }},
                    .check =
                        [&] {
                            // With what the other has in use, or without; never with its credit.
                            expect_peak(tag, {kPeak + 1'000, kPeak + 1'001, kPeak + 3'000});
                            test::refund(tag, kPeak + 1'000);
                        }},
                   100);
}

// Nothing hides it afterwards when the other's peak has the first one's credit in it.
TEST(PeakSteps, ANewPeakThatGoesAgainBesideACharge) {
    const Tag tag = fresh_tag(fresh_tag());
    stop_near_peak({.prepare = [&] { begin_below_a_peak(tag); },
                    .stepped = [&] { ASSERT_EQ(test::charge(tag, 12'000), Status::ok); },
                    .other = {.meanwhile =
                                  [&] {
                                      EXPECT_EQ(test::charge(tag, kPeak + 500), Status::ok);
                                      test::refund(tag, kPeak + 500);
                                  }},
                    .check =
                        [&] {
                            expect_peak(tag, {12'000, kPeak + 12'500});
                            test::refund(tag, 12'000);
                        }},
                   100);
}

// It was never there.
TEST(PeakSteps, ANewPeakBesideAChargeThatIsTakenBack) {
    const Tag tag = fresh_tag(fresh_tag());
    stop_near_peak({.prepare =
                        [&] {
                            begin_below_a_peak(tag);
                            ASSERT_EQ(detail::charge_slow(tag, 3'000), Status::ok);
                        },
                    .stepped = [&] { detail::uncharge_slow(tag, 3'000); },
                    .other = {.meanwhile =
                                  [&] {
                                      EXPECT_EQ(test::charge(tag, kPeak + 500), Status::ok);
                                      test::refund(tag, kPeak + 500);
                                  }},
                    .check = [&] { expect_peak(tag, {kPeak + 500}); }},
                   100);
}

TEST(PeakSteps, PeaksThatBeginAnewAnywhereInACharge) {
    const Tag tag = fresh_tag(fresh_tag());
    stop_near_peak({.prepare = [&] { begin_below_a_peak(tag); },
                    .stepped = [&] { ASSERT_EQ(test::charge(tag, kPeak + 1'000), Status::ok); },
                    .other = {.meanwhile = [] { reset_peaks(); }},
                    .check =
                        [&] {
                            expect_peak(tag, {kPeak + 1'000});
                            test::refund(tag, kPeak + 1'000);
                        }},
                   100);
}

}  // namespace
}  // namespace ouro
