// No thread waits for another where each of them charges what it allocates and the budgets have room.
#include "fresh_tags.hpp"
#include "linux/paused_resource.hpp"

#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/observe/budget.hpp>
#include <ouro/observe/charged_allocator.hpp>
#include <ouro/observe/ledger.hpp>

#include <cstddef>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using testing_support::Outcome;

// A thread's first charge opens its part of the ledger, once: that is not what is asked about here.
void charge_for_the_first_time() {
    const auto block = testing_support::g_shared.resource->allocate(1);
    if (block) testing_support::g_shared.resource->deallocate(*block);
}

// By turns a thread frees what others have charged, and has to be charged for what they will free: its credit
// is soon too much and soon too little, so that it often takes the slow way to the accounts that all share.
void work_by_turns(std::size_t worker, std::uint32_t random) {
    constexpr std::uint32_t kTurnSteps = 64;
    static thread_local std::uint32_t step = 0;
    const bool only_frees = step++ / kTurnSteps % 3 == worker;
    if (only_frees) return testing_support::put_into_place(random % testing_support::kPlaces, nullptr);
    testing_support::work_on_places(worker, random);
}

Outcome pause_on_charges(Tag tag) {
    // The credit that threads keep is a part of it.
    constexpr std::size_t kRoom = std::size_t{256} << 20;
    static auto heap = SmallObjectAllocator::create({.max_bytes = kRoom, .purge_threshold_bytes = 0});
    if (!heap || !set_budget(tag, {.hard_bytes = kRoom})) return Outcome::cannot_create;
    static ChargedAllocator charged(*heap, tag);
    testing_support::g_work.prepare = charge_for_the_first_time;
    const Outcome outcome =
        testing_support::pause_again_and_again(charged, testing_support::kMuchPatience, {}, work_by_turns);
    return use_of(tag).failures == 0 ? outcome : Outcome::call_failed;
}

TEST(PausedThread, StopsNobodyElseWhoChargesTheSameTag) {
    const Tag tag = test::fresh_tag(test::fresh_tag());
    testing_support::expect_that_everyone_went_on(
        testing_support::run_in_child([tag] { return pause_on_charges(tag); }));
}

}  // namespace
}  // namespace ouro
