// Lines in reports. This file is compiled with debug information in every configuration.
#include "hardening/reusing_resource.hpp"

#include <ouro/memory/guarded_allocator.hpp>
#include <ouro/memory/symbolized_reports.hpp>

#include <string>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using Guarded = ouro::GuardedAllocator<ouro::HardeningTier::hardened>;

// Two accesses on lines of their own, with nothing between them: an address that is off by one byte belongs
// to the other line.
constexpr unsigned kFaultLine = __LINE__ + 3;
[[gnu::noinline]] void touch_twice(volatile unsigned char* sound, volatile unsigned char* freed) {
    *sound = 1;
    *freed = 1;
}

[[gnu::noinline]] void free_it(Guarded& guarded, MemoryBlock block) {
    guarded.deallocate(block);
    asm volatile("" ::: "memory");
}

void touch_after_free() {
    static ouro::testing_support::ReusingResource upstream(std::size_t{1} << 20);
    static auto guarded = *Guarded::create_on(upstream, {.name = "level"});
    ouro::name_call_sites_in_reports();
    const MemoryBlock block = *guarded.allocate(64);
    free_it(guarded, block);
    unsigned char sound = 0;
    touch_twice(&sound, reinterpret_cast<unsigned char*>(block.data));
}

TEST(SymbolizedReportsDeath, NameTheLineOfTheInstructionThatFaulted) {
    const std::string line = std::to_string(kFaultLine);
    EXPECT_DEATH(touch_after_free(),
                 "use after free in 'level'[^\n]*\n[^\n]*\n"
                 "  noticed at:\n"
                 "    0x[0-9a-f]+ [^\n]*touch_twice[^\n]*symbolized_reports_test.cpp:" +
                     line + "\\)\n");
}

}  // namespace
