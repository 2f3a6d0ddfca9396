#include "hardening/reusing_resource.hpp"

#include <ouro/memory/guarded_allocator.hpp>
#include <ouro/memory/leak_report.hpp>

#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>

namespace {

using ouro::GuardedAllocator;
using ouro::HardeningTier;
using ouro::testing_support::ReusingResource;

void leave_with(std::size_t leaked_blocks) {
    static ReusingResource upstream(std::size_t{1} << 20);
    static auto guarded = GuardedAllocator<HardeningTier::checked>::create_on(
        upstream, {.name = "level", .report_leaks = false});
    if (!ouro::report_leaks_at_exit()) std::_Exit(3);
    // Not known to the compiler, which would make several places of one by unrolling.
    const volatile std::size_t count = leaked_blocks;
    for (std::size_t i = 0; i < count; ++i) {
        if (!guarded->allocate(100)) std::_Exit(3);
    }
    const auto freed = guarded->allocate(100);
    guarded->deallocate(*freed);
    std::exit(0);
}

TEST(LeakAtExitDeath, IsPrintedWithItsCallSites) {
    EXPECT_EXIT(leave_with(3), testing::ExitedWithCode(0),
                "ouroboros: 3 blocks with 300 bytes were never freed\n"
                "  3 blocks with 300 bytes of 'level', one of them at 0x[0-9a-f]+, aligned to [0-9]+\n"
                "  allocated at:\n    0x[0-9a-f]+");
    EXPECT_EXIT(leave_with(1), testing::ExitedWithCode(0),
                "ouroboros: 1 block with 100 bytes was never freed\n"
                "  1 block with 100 bytes of 'level', at 0x[0-9a-f]+, aligned to [0-9]+\n");
    EXPECT_EXIT(leave_with(0), testing::ExitedWithCode(0), "^$");
}

void end_with_a_leak(ouro::MemoryErrorHandler handler) {
    ouro::set_memory_error_handler(handler);
    ReusingResource upstream(std::size_t{1} << 20);
    {
        auto guarded = GuardedAllocator<HardeningTier::checked>::create_on(upstream, {.name = "level"});
        if (!guarded || !guarded->allocate(100)) std::_Exit(3);
    }
    std::exit(7);
}

TEST(LeakAtExitDeath, AnAllocatorThatEndsWithLeaksLeavesTheExitCode) {
    EXPECT_EXIT(end_with_a_leak(nullptr), testing::ExitedWithCode(7), "ouroboros: leak in 'level'");
    EXPECT_EXIT(end_with_a_leak([](const ouro::MemoryErrorReport&) { return ouro::AfterMemoryError::abort; }),
                testing::KilledBySignal(SIGABRT), "leak");
}

// Without a symbolizer too, a report leads to the code: as addr2line takes it.
TEST(LeakAtExitDeath, TellsTheFileAndThePlaceInIt) {
    EXPECT_EXIT(leave_with(1), testing::ExitedWithCode(0),
                "allocated at:\n    0x[0-9a-f]+ [^\n]*\\([^\n]*hardening_test\\+0x[0-9a-f]+\\)\n");
}

}  // namespace
