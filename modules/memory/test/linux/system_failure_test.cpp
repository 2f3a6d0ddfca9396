// Every system call that the system allocator makes fails once: the call returns a status, the books are
// right, and the allocator goes on.
#include <ouro/memory/system_allocator.hpp>
#include <ouro/os/fault_injection.hpp>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::Status;
using ouro::SystemAllocator;
using ouro::os::OsCall;
namespace inject = ouro::os::fault_injection;

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

// Everything the allocator can be asked, with whatever may fail on the way.
void use(SystemAllocator& system) {
    std::vector<MemoryBlock> blocks;
    for (const std::size_t size : {std::size_t{1}, std::size_t{100'000}, 2 * kMebibyte}) {
        const auto block = system.allocate(size, size == 1 ? kMebibyte : 16);
        if (!block) continue;
        std::memset(block->data, 0x77, block->size);
        blocks.push_back(*block);
    }
    for (MemoryBlock& block : blocks) {
        for (const std::size_t size : {4 * kMebibyte, std::size_t{50'000}, kMebibyte}) {
            const auto changed = system.reallocate(block, size);
            if (changed) block = *changed;
            ASSERT_EQ(block.data[0], std::byte{0x77});
            ASSERT_TRUE(system.owns(block.end() - 1));
        }
    }
    for (const MemoryBlock block : blocks)
        system.deallocate(block, 16);
    (void)system.trim();
}

void fail_each_use_of(OsCall call) {
    for (std::uint64_t nth = 1; nth < 200; ++nth) {
        SCOPED_TRACE(std::string(inject::name_of(call)) + ", use " + std::to_string(nth));
        auto system = SystemAllocator::create({.cache_bytes = 8 * kMebibyte});
        ASSERT_TRUE(system);
        inject::fail_nth(call, nth, ENOMEM);
        use(*system);
        const bool fired = inject::has_fired();
        inject::clear();
        if (testing::Test::HasFatalFailure()) return;
        ASSERT_EQ(system->stats().live_bytes, 0U);
        ASSERT_EQ(system->stats().live_blocks, 0U);
        (void)system->trim();
        ASSERT_EQ(system->stats().reserved_bytes, 0U);
        ASSERT_EQ(system->check(), Status::ok);
        const auto after = system->allocate(3 * kMebibyte);
        ASSERT_TRUE(after);
        system->deallocate(*after);
        if (!fired) {
            ASSERT_GT(nth, 1U) << "the call is not used";
            return;
        }
    }
    FAIL() << "the scenario never ends without a failure";
}

class SystemFailure : public testing::TestWithParam<OsCall> {
protected:
    void TearDown() override { inject::clear(); }
};

TEST_P(SystemFailure, IsAStatusAndTheAllocatorGoesOn) {
    fail_each_use_of(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Calls, SystemFailure,
                         testing::Values(OsCall::map_memory, OsCall::unmap_memory, OsCall::protect_memory,
                                         OsCall::remap_memory));

// What the system does not take back is neither lost nor told as given back.
TEST(SystemFailureToUnmap, KeepsTheRangeForTheNextBlockOrTheNextTrim) {
    auto system = SystemAllocator::create({.cache_bytes = 0});
    ASSERT_TRUE(system);
    const MemoryBlock block = *system->allocate(kMebibyte);
    std::memset(block.data, 0x77, block.size);
    inject::fail_nth(OsCall::unmap_memory, 1, ENOMEM);
    system->deallocate(block);
    ASSERT_TRUE(inject::has_fired());
    EXPECT_EQ(system->stats().reserved_bytes, kMebibyte);
    EXPECT_EQ(system->check(), Status::ok);
    const MemoryBlock again = *system->allocate(kMebibyte / 2);
    EXPECT_EQ(again.data, block.data);
    system->deallocate(again);
    EXPECT_EQ(system->stats().reserved_bytes, kMebibyte / 2);
    inject::fail_nth(OsCall::unmap_memory, 1, ENOMEM);
    EXPECT_EQ(system->trim(), 0U);
    inject::clear();
    EXPECT_EQ(system->check(), Status::ok);
    EXPECT_EQ(system->trim(), kMebibyte / 2);
    EXPECT_EQ(system->stats().reserved_bytes, 0U);
    EXPECT_EQ(system->check(), Status::ok);
}

TEST(SystemFailureAtCreation, IsAStatus) {
    inject::fail_nth(OsCall::map_memory, 1, ENOMEM);
    EXPECT_EQ(SystemAllocator::create({}).status(), Status::out_of_address_space);
    inject::fail_nth(OsCall::protect_memory, 1, ENOMEM);
    EXPECT_EQ(SystemAllocator::create({}).status(), Status::out_of_memory);
    inject::clear();
}

}  // namespace
