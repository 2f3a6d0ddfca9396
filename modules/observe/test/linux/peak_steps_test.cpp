// A charge or a refund near a peak that is stopped anywhere, while another thread charges too: the peak is
// one of those that one after the other would have made.
#include "charges.hpp"
#include "fresh_tags.hpp"
#include "stop_everywhere.hpp"

#include <ouro/observe/detail/observe_image.hpp>
#include <ouro/observe/ledger.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using test::fresh_tag;

constexpr std::size_t kPeak = 10'000;

void charge(Tag tag, std::size_t bytes) {
    EXPECT_EQ(test::charge(tag, bytes), Status::ok);
}

void charge_and_refund(Tag tag, std::size_t bytes) {
    charge(tag, bytes);
    test::refund(tag, bytes);
}

// Memory is asked for, and not there yet.
void begin_charge(Tag tag, std::size_t bytes) {
    EXPECT_EQ(detail::charge_slow(tag, bytes), Status::ok);
}

// The memory cannot be had.
void charge_in_vain(Tag tag, std::size_t bytes) {
    if (!detail::charge_credit(detail::ChargedTag(tag), bytes).is_deferred())
        return detail::uncharge_credit(tag, bytes);
    begin_charge(tag, bytes);
    detail::uncharge_slow(tag, bytes);
}

// The peaks begin anew at this one, with nothing in use and credit for the calling thread.
void begin_below_a_peak(Tag tag) {
    reset_peaks();
    test::rest_below_a_peak(tag, kPeak);
    ASSERT_EQ(use_of(tag).peak_bytes, kPeak);
}

// The same where those above were higher: who climbs waits once only, and nothing that comes later makes up
// for it.
void begin_below_one_peak(Tag tag) {
    reset_peaks();
    charge_and_refund(tag_parent(tag), 10 * kPeak);
    test::rest_below_a_peak(tag, kPeak);
    ASSERT_EQ(use_of(tag).peak_bytes, kPeak);
}

// Where nobody has credit: the last peak was just made.
void begin_at_a_peak(Tag tag) {
    reset_peaks();
    charge_and_refund(tag, kPeak);
}

detail::Ledger& ledger() {
    return detail::observe_image()->ledger;
}

bool is_any_climbing(Tag tag) {
    for (;; tag = tag_parent(tag)) {
        if (ledger().accounts[tag.id()].climb.load() != detail::Climb::none) return true;
        if (tag.is_untagged()) return false;
    }
}

// Calls so often without a new peak that nobody climbs any more, unless somebody keeps it up. Nothing else
// changes.
void end_climbs(Tag tag) {
    for (int call = 0; call < 1'000 && is_any_climbing(tag); ++call)
        detail::settle_slow(tag);
}

// As after a revocation for which the system refused the barrier.
void put_credit_out_of_reach(Tag tag) {
    detail::t_ledger.shard->cells[tag.id()].floor.store(std::numeric_limits<std::int64_t>::max());
}

// The stepped charge has reserved its bytes: then it is given credit, and settles.
constexpr std::size_t kMuch = 6'000;
bool has_reserved_much(Tag tag) {
    return ledger().accounts[tag.id()].reserved.load() >= static_cast<std::int64_t>(kMuch);
}

// The stepped charge waits until nobody has credit, or is about to.
bool is_beginning(Tag tag) {
    return ledger().accounts[tag.id()].climb.load() == detail::Climb::beginning;
}

// What a thread does that is given credit when others have looked for it already, and gives it back. In the
// place that they wait for first.
constexpr std::int64_t kLateCredit = 1'000;
void move_late_credit(Tag tag, std::int64_t bytes) {
    detail::LedgerShard& shard = ledger().shards[0];
    shard.used_tags[tag.id() / 64].fetch_or(std::uint64_t{1} << tag.id() % 64);
    shard.cells[tag.id()].allowance.fetch_add(bytes);
    shard.slow_cells[tag.id()].granted.fetch_add(bytes);
    // As if it came later: nobody else takes it.
    shard.cells[tag.id()].floor.store(bytes > 0 ? std::numeric_limits<std::int64_t>::max() - 1 : 0);
}
void account_for_late_credit(Tag tag, std::int64_t bytes) {
    for (Tag at = tag;; at = tag_parent(at)) {
        ledger().accounts[at.id()].held.fetch_add(bytes);
        ledger().accounts[at.id()].reserved.fetch_add(bytes);
        if (at.is_untagged()) return;
    }
}
// Half-way for longer than the other is stopped.
void return_late_credit(Tag tag) {
    auto& moves = ledger().shards[0].credit_moves;
    moves.fetch_add(1);
    move_late_credit(tag, -kLateCredit);
    std::this_thread::sleep_for(std::chrono::milliseconds(6));
    account_for_late_credit(tag, -kLateCredit);
    moves.fetch_add(1);
}

void nothing(Tag) {}

struct PeakScene {
    const char* name;
    void (*prepare)(Tag) = begin_below_a_peak;
    void (*stepped)(Tag);
    void (*before)(Tag) = nothing;
    void (*meanwhile)(Tag);
    // At a second stop.
    void (*then)(Tag) = nullptr;
    // Where the stop, or the first of two, may be.
    bool (*is_first_stop)(Tag) = nullptr;
    // When both are done.
    void (*finish)(Tag) = nothing;
    std::vector<std::size_t> peaks;
    std::size_t left = 0;
    std::size_t least_stops = 100;

    friend std::ostream& operator<<(std::ostream& out, const PeakScene& scene) { return out << scene.name; }
};

class PeakSteps : public testing::TestWithParam<PeakScene> {
protected:
    // Peaks that were exact, of all: others are only known not to be too low. A busy machine stops threads
    // for long.
    std::size_t exact_peaks = 0;
    std::size_t peaks = 0;

    void expect_peak(Tag tag, const std::vector<std::size_t>& possible) {
        const TagUse use = use_of(tag);
        const std::size_t peak = use.peak_bytes;
        EXPECT_EQ(check_ledger(), Status::ok);
        ++peaks;
        if (!use.is_peak_exact) {
            EXPECT_GE(peak, *std::min_element(possible.begin(), possible.end()));
            return;
        }
        ++exact_peaks;
        EXPECT_NE(std::find(possible.begin(), possible.end(), peak), possible.end()) << peak;
        // To the byte: as much as that is no new peak, more is.
        const std::size_t left = peak - use.live_bytes;
        charge(tag, left);
        EXPECT_EQ(use_of(tag).peak_bytes, peak);
        charge(tag, 1);
        EXPECT_EQ(use_of(tag).peak_bytes, peak + 1);
        test::refund(tag, left + 1);
    }
};

TEST_P(PeakSteps, LeaveAPeakThatThereWas) {
    const PeakScene& scene = GetParam();
    const Tag tag = fresh_tag(fresh_tag());
    test::Scene steps{
        .prepare = [&] { scene.prepare(tag); },
        .stepped = [&] { scene.stepped(tag); },
        .other = {.before = [&] { scene.before(tag); }, .meanwhile = [&] { scene.meanwhile(tag); }},
        .check =
            [&] {
                scene.finish(tag);
                expect_peak(tag, scene.peaks);
                if (scene.left != 0) test::refund(tag, scene.left);
            }};
    if (scene.then != nullptr) steps.other.then = [&] { scene.then(tag); };
    if (scene.is_first_stop != nullptr) steps.is_first_stop = [&] { return scene.is_first_stop(tag); };
    test::stop_everywhere(steps, scene.least_stops);
    EXPECT_GT(exact_peaks, peaks / 2);
}

const PeakScene kScenes[] = {
    {.name = "AChargeOutOfCreditAndANewPeakBesideIt",
     .stepped = [](Tag tag) { charge(tag, 100); },
     .meanwhile = [](Tag tag) { charge(tag, kPeak - 50); },
     .peaks = {kPeak + 50},
     .left = kPeak + 50,
     .least_stops = 10},
    {.name = "ARefundThatIsKeptAsCreditAndANewPeakBesideIt",
     .prepare =
         [](Tag tag) {
             begin_below_a_peak(tag);
             charge(tag, 100);
         },
     .stepped = [](Tag tag) { test::refund(tag, 100); },
     .meanwhile = [](Tag tag) { charge(tag, kPeak - 50); },
     .peaks = {kPeak, kPeak + 50},
     .left = kPeak - 50,
     .least_stops = 5},
    {.name = "TwoNewPeaks",
     .stepped = [](Tag tag) { charge(tag, kPeak + 1'000); },
     .meanwhile = [](Tag tag) { charge_and_refund(tag, 500); },
     .peaks = {kPeak + 1'000, kPeak + 1'500},
     .left = kPeak + 1'000},
    // The other takes credit back that the first is about to be given.
    {.name = "AGrantOfCreditAndANewPeakBesideIt",
     .stepped = [](Tag tag) { charge(tag, kMuch); },
     .meanwhile = [](Tag tag) { charge(tag, kPeak - 500); },
     .peaks = {kPeak + kMuch - 500},
     .left = kPeak + kMuch - 500},
    // One new peak when credit was promised, one when it has come.
    {.name = "AGrantOfCreditBetweenTwoNewPeaks",
     .prepare = begin_below_one_peak,
     .stepped = [](Tag tag) { begin_charge(tag, kMuch); },
     .meanwhile = [](Tag tag) { charge(tag, kPeak + 500); },
     .then = [](Tag tag) { charge(tag, 100); },
     .is_first_stop = has_reserved_much,
     .finish = [](Tag tag) { detail::uncharge_slow(tag, kMuch); },
     .peaks = {kPeak + 600},
     .left = kPeak + 600},
    // The other keeps credit when the climb has ended. What it has in use counts, or not; its credit never.
    {.name = "AClimbThatEndsAnywhereInAChargeAbove",
     .prepare = begin_at_a_peak,
     .stepped = [](Tag tag) { charge(tag, kPeak + 1'000); },
     .meanwhile =
         [](Tag tag) {
             for (int call = 0; call < 1'000; ++call)
                 charge_and_refund(tag, 1);
             charge_and_refund(tag, 2'000);
         },
     .peaks = {kPeak + 1'000, kPeak + 1'001, kPeak + 3'000},
     .left = kPeak + 1'000},
    // What the other frees becomes credit without a change of what is reserved. Nothing else is in the way:
    // the tag above was higher.
    {.name = "AClimbThatEndsAnywhereInAChargeWhoseMemoryComesLater",
     .prepare =
         [](Tag tag) {
             reset_peaks();
             charge_and_refund(tag_parent(tag), 10 * kPeak);
             charge_and_refund(tag, kPeak);
         },
     .stepped = [](Tag tag) { begin_charge(tag, kPeak + 1'000); },
     .before = [](Tag tag) { charge(tag, 2'000); },
     .meanwhile =
         [](Tag tag) {
             end_climbs(tag);
             test::refund(tag, 2'000);
         },
     .finish = [](Tag tag) { detail::confirm_slow(tag, kPeak + 1'000); },
     .peaks = {kPeak + 1'000},
     .left = kPeak + 1'000},
    // Nothing hides it afterwards when the other's peak has the first one's credit in it.
    {.name = "ANewPeakThatGoesAgainBesideACharge",
     .stepped = [](Tag tag) { charge(tag, 12'000); },
     .meanwhile = [](Tag tag) { charge_and_refund(tag, kPeak + 500); },
     .peaks = {12'000, kPeak + 12'500},
     .left = 12'000},
    // It was never there.
    {.name = "ANewPeakBesideAChargeThatIsTakenBack",
     .prepare =
         [](Tag tag) {
             begin_below_a_peak(tag);
             begin_charge(tag, 3'000);
         },
     .stepped = [](Tag tag) { detail::uncharge_slow(tag, 3'000); },
     .meanwhile = [](Tag tag) { charge_and_refund(tag, kPeak + 500); },
     .peaks = {kPeak + 500}},
    // The same out of credit, which nobody else can tell from memory; and the climb is over when it is known.
    {.name = "AClimbBesideAChargeOutOfCreditThatIsTakenBack",
     .stepped = [](Tag tag) { charge_in_vain(tag, 100); },
     .meanwhile =
         [](Tag tag) {
             charge_and_refund(tag, kPeak + 500);
             end_climbs(tag);
         },
     .peaks = {kPeak + 500}},
    // The same where the next climb is beginning by then, and does not count it any more.
    {.name = "ASecondClimbBesideAChargeOutOfCreditThatIsTakenBack",
     .stepped = [](Tag tag) { charge_in_vain(tag, 100); },
     .meanwhile =
         [](Tag tag) {
             charge_and_refund(tag, kPeak + 500);
             end_climbs(tag);
             ledger().accounts[tag.id()].climb.store(detail::Climb::beginning);
         },
     .finish = [](Tag tag) { ledger().accounts[tag.id()].climb.store(detail::Climb::none); },
     .peaks = {kPeak + 500}},
    {.name = "CreditThatIsGivenBackAnywhereInTheBeginningOfAClimb",
     .prepare =
         [](Tag tag) {
             begin_below_one_peak(tag);
             account_for_late_credit(tag, kLateCredit);
             move_late_credit(tag, kLateCredit);
         },
     .stepped = [](Tag tag) { charge(tag, kPeak + 500); },
     .meanwhile = return_late_credit,
     .is_first_stop = is_beginning,
     .peaks = {kPeak + 500},
     .left = kPeak + 500},
    // Taken, found to be out of reach and not given back yet: others take it for memory in use.
    {.name = "ANewPeakBesideAChargeOutOfCreditThatIsRevoked",
     .prepare =
         [](Tag tag) {
             begin_below_a_peak(tag);
             put_credit_out_of_reach(tag);
         },
     .stepped = [](Tag tag) { charge_in_vain(tag, 100); },
     .meanwhile = [](Tag tag) { charge_and_refund(tag, kPeak + 500); },
     .peaks = {kPeak + 500}},
    {.name = "PeaksThatBeginAnewAnywhereInACharge",
     .stepped = [](Tag tag) { charge(tag, kPeak + 1'000); },
     .meanwhile = [](Tag) { reset_peaks(); },
     .peaks = {kPeak + 1'000},
     .left = kPeak + 1'000},
};

INSTANTIATE_TEST_SUITE_P(Scenes, PeakSteps, testing::ValuesIn(kScenes),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace ouro
