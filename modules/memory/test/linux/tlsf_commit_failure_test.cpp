#include <ouro/memory/tlsf_allocator.hpp>
#include <ouro/os/fault_injection.hpp>

#include <cerrno>

#include <gtest/gtest.h>

namespace {

using ouro::Status;
using ouro::TlsfAllocator;
namespace inject = ouro::os::fault_injection;

TEST(TlsfCommitFailure, IsAStatusAndTheHeapGoesOn) {
    auto heap = TlsfAllocator::create({.max_bytes = std::size_t{16} << 20});
    ASSERT_TRUE(heap);
    const auto before = heap->allocate(1000);
    ASSERT_TRUE(before);
    inject::fail_nth(ouro::os::OsCall::protect_memory, 1, ENOMEM);
    EXPECT_EQ(heap->allocate(std::size_t{8} << 20).status(), Status::out_of_memory);
    EXPECT_TRUE(inject::has_fired());
    inject::clear();
    EXPECT_EQ(heap->stats().live_blocks, 1U);
    EXPECT_EQ(heap->stats().failures, 1U);
    EXPECT_EQ(heap->check(), Status::ok);
    EXPECT_TRUE(heap->allocate(std::size_t{8} << 20));
}

TEST(TlsfCommitFailure, ARefusedReturnOfMemoryHarmsNothing) {
    auto heap = TlsfAllocator::create({.max_bytes = std::size_t{16} << 20});
    ASSERT_TRUE(heap);
    const auto block = heap->allocate(std::size_t{8} << 20);
    ASSERT_TRUE(block);
    heap->deallocate(*block);
    inject::fail_nth(ouro::os::OsCall::map_memory, 1, ENOMEM);
    EXPECT_EQ(heap->trim(), 0U);
    EXPECT_TRUE(inject::has_fired());
    inject::clear();
    EXPECT_EQ(heap->check(), Status::ok);
    EXPECT_TRUE(heap->allocate(std::size_t{8} << 20));
}

TEST(TlsfCommitFailure, IsToldAtCreation) {
    inject::fail_nth(ouro::os::OsCall::map_memory, 1, ENOMEM);
    EXPECT_EQ(TlsfAllocator::create({}).status(), Status::out_of_address_space);
    inject::fail_nth(ouro::os::OsCall::protect_memory, 1, ENOMEM);
    EXPECT_EQ(TlsfAllocator::create({}).status(), Status::out_of_memory);
    inject::clear();
}

}  // namespace
