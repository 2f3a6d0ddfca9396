#include <ouro/memory/frame_allocator.hpp>
#include <ouro/os/fault_injection.hpp>

#include <cerrno>

#include <gtest/gtest.h>

namespace {

using ouro::FrameAllocator;
using ouro::Status;
namespace inject = ouro::os::fault_injection;

TEST(CommitFailure, IsAStatusAndTheFrameGoesOn) {
    auto frame = FrameAllocator::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(frame);
    inject::fail_nth(ouro::os::OsCall::protect_memory, 1, ENOMEM);
    EXPECT_EQ(frame->allocate(100).status(), Status::out_of_memory);
    inject::clear();
    EXPECT_EQ(frame->used_bytes(), 0U);
    EXPECT_EQ(frame->check(), Status::ok);
    EXPECT_EQ(frame->stats().failures, 1U);
    EXPECT_TRUE(frame->allocate(100));
}

TEST(CommitFailure, ARefusedReturnOfMemoryHarmsNothing) {
    auto frame = FrameAllocator::create({.max_bytes = std::size_t{4} << 20, .decay_resets = 1});
    ASSERT_TRUE(frame);
    ASSERT_TRUE(frame->allocate(std::size_t{2} << 20));
    frame->reset();
    inject::fail_nth(ouro::os::OsCall::map_memory, 1, ENOMEM);
    frame->reset();
    EXPECT_TRUE(inject::has_fired());
    inject::clear();
    EXPECT_EQ(frame->check(), Status::ok);
    EXPECT_TRUE(frame->allocate(std::size_t{2} << 20));
}

TEST(CommitFailure, AFailedReservationIsToldAtCreation) {
    inject::fail_nth(ouro::os::OsCall::map_memory, 1, ENOMEM);
    EXPECT_EQ(FrameAllocator::create({}).status(), Status::out_of_address_space);
    inject::clear();
}

}  // namespace
