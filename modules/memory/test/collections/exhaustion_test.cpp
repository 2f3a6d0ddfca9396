// Every allocation of every collection fails once, and from some point on all do: the call says so, the
// collection is as it was, and nothing is lost.
#include "collection_kinds.hpp"
#include "strict_resource.hpp"
#include "tracked.hpp"

#include <ouro/memory/collections/capacity_pool.hpp>
#include <ouro/memory/collections/spsc_ring.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryResource;
using ouro::Status;
using ouro::testing_support::collection_kinds;
using ouro::testing_support::CollectionKind;
using ouro::testing_support::StrictResource;
using ouro::testing_support::Tracked;

constexpr std::uint64_t kSeeds = 3;
constexpr int kSteps = 60;
constexpr std::uint64_t kEndlessCalls = 2000;

// Runs the scenario with the n-th call failing, for every n there is; then with all from the n-th on failing.
template <class Scenario>
void sweep(Scenario scenario) {
    for (const bool only_once : {true, false}) {
        for (std::uint64_t n = 0;; ++n) {
            SCOPED_TRACE((only_once ? "failing call " : "failing from call ") + std::to_string(n));
            StrictResource heap;
            heap.fail_calls(n, only_once ? n + 1 : StrictResource::kNever);
            scenario(heap);
            if (testing::Test::HasFatalFailure()) return;
            ASSERT_EQ(heap.live_blocks(), 0U);
            ASSERT_EQ(Tracked::live, 0);
            if (heap.calls() <= n) break;
            ASSERT_LT(n, kEndlessCalls) << "the scenario never ends";
        }
    }
}

// Looks at everything after the first call that failed, and now and then.
void make_steps(const CollectionKind& kind, MemoryResource& resource, std::uint64_t seed) {
    constexpr int kStepsBetweenChecks = 20;
    const auto model = kind.make(resource, seed);
    for (int step = 1; step <= kSteps; ++step) {
        SCOPED_TRACE("step " + std::to_string(step));
        const bool had_refusals = model->refusals() != 0;
        ASSERT_NO_FATAL_FAILURE(model->step());
        const bool is_first_refusal = !had_refusals && model->refusals() != 0;
        if (is_first_refusal || step % kStepsBetweenChecks == 0) {
            ASSERT_NO_FATAL_FAILURE(model->verify());
        }
    }
}

class Exhaustion : public testing::TestWithParam<CollectionKind> {
protected:
    template <class Scenario>
    void sweep_seeds(Scenario scenario) {
        for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
            SCOPED_TRACE("seed " + std::to_string(seed));
            ASSERT_NO_FATAL_FAILURE(sweep([&](StrictResource& heap) { scenario(heap, seed); }));
        }
    }
};

TEST_P(Exhaustion, OfAHeap) {
    sweep_seeds([](StrictResource& heap, std::uint64_t seed) { make_steps(GetParam(), heap, seed); });
}

TEST_P(Exhaustion, OfWhatACapacityPoolStandsOn) {
    sweep_seeds([](StrictResource& heap, std::uint64_t seed) {
        ouro::CapacityPool pool(heap);
        make_steps(GetParam(), pool, seed);
        ASSERT_EQ(pool.check(), Status::ok);
        pool.trim();
        ASSERT_EQ(heap.live_blocks(), 0U);
    });
}

std::vector<CollectionKind> allocating_kinds() {
    std::vector<CollectionKind> kinds;
    for (const CollectionKind& kind : collection_kinds())
        if (kind.allocates) kinds.push_back(kind);
    return kinds;
}

INSTANTIATE_TEST_SUITE_P(Collections, Exhaustion, testing::ValuesIn(allocating_kinds()),
                         [](const testing::TestParamInfo<CollectionKind>& test) {
                             return std::string(test.param.name);
                         });

TEST(RingExhaustion, OfASpscRing) {
    sweep([](StrictResource& heap) {
        auto lane = ouro::SpscRing<Tracked>::create(heap, 10);
        if (!lane) return;
        ASSERT_EQ(lane->emplace(1U), Status::ok);
    });
}

}  // namespace
