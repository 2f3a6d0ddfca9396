// Every failure of the system while guards are made and used is a status, and nothing is lost.
#include "hardening/reusing_resource.hpp"
#include "mapping_table.hpp"

#include <ouro/memory/guarded_allocator.hpp>
#include <ouro/os/fault_injection.hpp>

#include <cerrno>

#include <gtest/gtest.h>

namespace {

using ouro::GuardedAllocator;
using ouro::HardeningTier;
using ouro::MemoryBlock;
using ouro::Status;
using ouro::os::OsCall;
using ouro::os::testing_support::NoMappingLeak;
using ouro::testing_support::ReusingResource;
namespace inject = ouro::os::fault_injection;
using Hardened = GuardedAllocator<HardeningTier::hardened>;

constexpr ouro::GuardOptions kOptions{.max_blocks = 1000, .quarantine_blocks = 4, .guard_slots = 4};

// Makes a guarded allocator and uses it; ok, or the first failure.
Status use_once(ReusingResource& upstream) {
    auto guarded = Hardened::create_on(upstream, kOptions);
    if (!guarded) return guarded.status();
    Status first = Status::ok;
    for (int i = 0; i < 20; ++i) {
        const auto block = guarded->allocate(1000);
        if (!block) {
            if (first == Status::ok) first = block.status();
            continue;
        }
        block->data[999] = std::byte{1};
        guarded->deallocate(*block);
    }
    EXPECT_EQ(guarded->check(), Status::ok);
    EXPECT_EQ(guarded->stats().live_blocks, 0U);
    return first;
}

TEST(HardeningFaults, EveryFailureOfTheSystemIsSurvived) {
    ReusingResource upstream(std::size_t{1} << 20);
    // What a refused guard makes the upstream commit must be there already.
    const auto first = upstream.allocate(2000, 16);
    ASSERT_TRUE(first);
    upstream.deallocate(*first, 16);
    ASSERT_EQ(use_once(upstream), Status::ok);
    for (const OsCall call : {OsCall::map_memory, OsCall::protect_memory, OsCall::set_signal_handler}) {
        int fired = 0;
        for (std::uint64_t nth = 1;; ++nth) {
            SCOPED_TRACE(std::string(inject::name_of(call)) + " number " + std::to_string(nth));
            NoMappingLeak::mark();
            inject::fail_nth(call, nth, ENOMEM);
            const Status status = use_once(upstream);
            const bool has_fired = inject::has_fired();
            inject::clear();
            EXPECT_EQ(NoMappingLeak::difference(), "");
            EXPECT_EQ(upstream.stats().live_blocks, 0U);
            EXPECT_TRUE(status == Status::ok || status == Status::out_of_memory ||
                        status == Status::out_of_address_space)
                << status_name(status);
            if (!has_fired) break;
            ++fired;
        }
        EXPECT_GT(fired, 0);
    }
}

}  // namespace
