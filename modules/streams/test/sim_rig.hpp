#pragma once

#include <ouro/base/random.hpp>
#include <ouro/streams/image_heap.hpp>
#include <ouro/streams/past_reader.hpp>
#include <ouro/streams/verifier.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace ouro::testing_support {

// A ring with one segment and a heap in it.
class SimRig {
public:
    static constexpr std::uint32_t kTicks = 12;

    explicit SimRig(std::uint64_t bytes = std::uint64_t{1} << 20, Tracking tracking = Tracking::declared,
                    const ImageHeapOptions& options = {}) {
        const SegmentOptions world{.name = "world", .bytes = bytes, .tracking = tracking};
        auto made = StateRing::create({.segments = {&world, 1},
                                       .history_ticks = kTicks,
                                       .history_bytes = (std::uint64_t{8} << 20) + bytes * 8});
        if (!made) return;
        ring_ = *std::move(made);
        if (auto heap = ImageHeap::create(ring_, "world", options)) heaps_.push_back(*heap);
    }

    [[nodiscard]] bool is_ready() const { return !heaps_.empty(); }
    [[nodiscard]] StateRing& ring() { return ring_; }
    [[nodiscard]] ImageHeap& heap() { return heaps_.front(); }

    [[nodiscard]] std::vector<std::byte> bytes() const {
        const MemoryBlock image = ring_.image();
        return {image.begin(), image.end()};
    }

    // Ends the tick, and looks for writes that were not declared.
    Tick commit() {
        const auto tick = ring_.commit();
        EXPECT_TRUE(tick) << status_name(tick.status());
        const VerifyOptions options{.finds_nans = false, .finds_addresses = false};
        const auto findings = verify_image(ring_, options, [](const Finding& finding) {
            std::array<char, 300> text;
            ADD_FAILURE() << describe_finding(finding, text).data();
        });
        EXPECT_TRUE(findings);
        return tick.value_or(0);
    }

private:
    StateRing ring_;
    std::vector<ImageHeap> heaps_;
};

// Tests of a type that lies in a root of a rig's heap, of the name "world".
template <class Root>
class SimRigTest : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(rig_.is_ready());
        const auto made = heap().template make_root<Root>("world");
        ASSERT_TRUE(made);
        root_ = *made;
    }

    ImageHeap& heap() { return rig_.heap(); }
    const Root& world() { return heap().get(root_); }

    SimRig rig_;
    OffsetPtr<Root> root_;
};

// Does the same to a simulation type and to a model of the standard library, with commits, rollbacks and
// branches in between. A subject has
//     Model                                  what can be copied
//     step(heap, model, random)              one change of both
//     expect_same(heap, model)
//     expect_same_past(heap, past, model)    at a tick of the past
template <class Subject>
class SimCampaign {
public:
    using Model = typename Subject::Model;

    SimCampaign(SimRig& rig, Subject& subject, std::uint64_t seed)
        : rig_(rig), subject_(subject), random_(seed) {
        commit();
    }

    void run(int steps) {
        for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i)
            step();
        subject_.expect_same(rig_.heap(), model_);
        EXPECT_EQ(rig_.heap().check(), Status::ok);
    }

private:
    struct Kept {
        Model model;
        std::vector<std::byte> bytes;
    };

    static constexpr std::uint64_t kUsualParts = 12;

    void step() {
        const std::uint32_t choice = random_.below(200);
        if (choice < 190) {
            subject_.step(rig_.heap(), model_, random_);
            // At times after each change: a mark that is missing is not hidden by another one.
            if (++steps_ / 256 % kUsualParts == 0) commit();
            return;
        }
        if (choice < 196) return commit();
        if (choice < 198) return go_back(false);
        if (choice < 199) return go_back(true);
        look_back();
    }

    void commit() {
        const Tick tick = rig_.commit();
        kept_[tick] = {model_, rig_.bytes()};
        kept_.erase(kept_.begin(), kept_.lower_bound(rig_.ring().oldest()));
        subject_.expect_same(rig_.heap(), model_);
        ASSERT_EQ(rig_.heap().check(), Status::ok);
    }

    void go_back(bool keeps_future) {
        const Tick newest = rig_.ring().newest();
        const Tick tick =
            newest - random_.below(static_cast<std::uint32_t>(newest - kept_.begin()->first + 1));
        if (keeps_future && tick != newest) {
            const auto future = rig_.ring().branch(tick);
            ASSERT_TRUE(future) << status_name(future.status());
            ASSERT_TRUE(rig_.ring().drop(*future));
        } else {
            ASSERT_TRUE(rig_.ring().rollback(tick));
        }
        ASSERT_TRUE(rig_.bytes() == kept_.at(tick).bytes) << "tick " << tick;
        kept_.erase(kept_.upper_bound(tick), kept_.end());
        model_ = kept_.at(tick).model;
        subject_.expect_same(rig_.heap(), model_);
        ASSERT_EQ(rig_.heap().check(), Status::ok);
    }

    void look_back() {
        auto each = kept_.begin();
        std::advance(each, random_.below(static_cast<std::uint32_t>(kept_.size())));
        const auto view = rig_.ring().view(each->first);
        ASSERT_TRUE(view) << status_name(view.status());
        subject_.expect_same_past(rig_.heap(), PastReader(*view), each->second.model);
    }

    SimRig& rig_;
    Subject& subject_;
    Random random_;
    Model model_;
    std::uint64_t steps_ = 0;
    std::map<Tick, Kept> kept_;
};

// With subjects that are made for a heap.
template <class Subject>
void run_campaigns() {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        SimRig rig(std::uint64_t{256} << 10);
        ASSERT_TRUE(rig.is_ready());
        Subject subject(rig.heap());
        SimCampaign<Subject>(rig, subject, seed).run(12'000);
        if (testing::Test::HasFailure()) return;
    }
}

}  // namespace ouro::testing_support
