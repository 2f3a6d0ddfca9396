// Whatever call of the system fails while memory is warmed up, creating says so, and nothing stays behind.
#include "mapping_table.hpp"

#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/pool_allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>
#include <ouro/memory/tlsf_allocator.hpp>
#include <ouro/os/fault_injection.hpp>

#include <cerrno>
#include <string>

#include <gtest/gtest.h>

namespace {

using namespace ouro;
using os::OsCall;
using os::testing_support::NoMappingLeak;
namespace inject = os::fault_injection;

constexpr std::size_t kMax = std::size_t{4} << 20;
constexpr std::size_t kWarm = std::size_t{1} << 20;

template <class Make>
void expect_failures(const char* name, Make make) {
    // What the library keeps for good is there afterwards.
    ASSERT_EQ(make(), Status::ok);
    for (const OsCall call : {OsCall::map_memory, OsCall::protect_memory, OsCall::advise_memory}) {
        unsigned failures = 0;
        bool fired = true;
        for (std::uint64_t nth = 1; fired; ++nth) {
            SCOPED_TRACE(std::string(name) + ", " + std::string(inject::name_of(call)) + " " +
                         std::to_string(nth));
            NoMappingLeak::mark();
            inject::fail_nth(call, nth, ENOMEM);
            const Status made = make();
            fired = inject::has_fired();
            inject::clear();
            EXPECT_EQ(NoMappingLeak::difference(), "");
            if (made != Status::ok) {
                EXPECT_TRUE(fired);
                ++failures;
            }
        }
        EXPECT_NE(failures, 0U) << name << ", " << inject::name_of(call);
    }
}

TEST(PrewarmFailure, IsAStatusOfCreate) {
    expect_failures(
        "frame", [] { return FrameAllocator::create({.max_bytes = kMax, .prewarm_bytes = kWarm}).status(); });
    expect_failures(
        "stack", [] { return StackAllocator::create({.max_bytes = kMax, .prewarm_bytes = kWarm}).status(); });
    expect_failures("pool", [] {
        return PoolAllocator::create({.max_blocks = kMax / 64, .prewarm_bytes = kWarm}).status();
    });
    expect_failures(
        "tlsf", [] { return TlsfAllocator::create({.max_bytes = kMax, .prewarm_bytes = kWarm}).status(); });
    expect_failures("small objects", [] {
        return SmallObjectAllocator::create({.max_bytes = kMax, .prewarm_bytes = kWarm}).status();
    });
}

}  // namespace
