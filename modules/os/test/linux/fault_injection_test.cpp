#include <ouro/os/fault_injection.hpp>
#include <ouro/os/fork_hooks.hpp>
#include <ouro/os/memory_object.hpp>
#include <ouro/os/reservation.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/os/thread_exit.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <cerrno>
#include <cstdlib>

#include <gtest/gtest.h>

namespace {

using ouro::Status;
using ouro::os::OsCall;
namespace os = ouro::os;
namespace inject = ouro::os::fault_injection;

TEST(FaultInjection, FailsTheNthUseOnce) {
    inject::fail_nth(OsCall::map_memory, 2, ENOMEM);
    const auto first = os::reserve({.bytes = 4096});
    const auto second = os::reserve({.bytes = 4096});
    const auto third = os::reserve({.bytes = 4096});
    EXPECT_TRUE(inject::has_fired());
    EXPECT_EQ(inject::uses(OsCall::map_memory), 3U);
    inject::clear();
    EXPECT_TRUE(first);
    EXPECT_EQ(second.status(), Status::out_of_address_space);
    EXPECT_TRUE(third);
    EXPECT_TRUE(os::release(*first));
    EXPECT_TRUE(os::release(*third));
}

TEST(FaultInjection, FailsEveryUseFromTheNthOn) {
    inject::fail_from(OsCall::map_memory, 2, ENOMEM);
    const auto first = os::reserve({.bytes = 4096});
    EXPECT_FALSE(inject::has_fired());
    const auto second = os::reserve({.bytes = 4096});
    const auto third = os::reserve({.bytes = 4096});
    EXPECT_TRUE(inject::has_fired());
    EXPECT_TRUE(first);
    EXPECT_EQ(second.status(), Status::out_of_address_space);
    EXPECT_EQ(third.status(), Status::out_of_address_space);
    // Until the next is asked for, of another call too.
    inject::fail_nth(OsCall::unmap_memory, 9, ENOMEM);
    const auto fourth = os::reserve({.bytes = 4096});
    EXPECT_TRUE(fourth);
    inject::clear();
    EXPECT_TRUE(os::release(*first));
    EXPECT_TRUE(os::release(*fourth));
}

TEST(FaultInjection, AReservationThatCannotBeReleasedKeepsItsAddressesOnly) {
    ouro::MemoryBlock block;
    {
        auto memory = os::Reservation::create({.bytes = 4 * os::page_size()}, 1);
        ASSERT_TRUE(memory);
        block = memory->block();
        ASSERT_TRUE(memory->commit(0, block.size));
        block.data[0] = std::byte{1};
        inject::fail_nth(OsCall::unmap_memory, 1, ENOMEM);
    }
    EXPECT_TRUE(inject::has_fired());
    inject::clear();
    EXPECT_EQ(os::reserve({.bytes = block.size, .address = block.data}).status(), Status::address_in_use);
    EXPECT_EQ(block.data[0], std::byte{0});
    const std::size_t page = os::page_size();
    EXPECT_TRUE(os::release({block.data - page, block.size + 2 * page}));
}

TEST(FaultInjection, AThreadThatCannotStartSaysWhy) {
    const auto status_for = [](int error) {
        inject::fail_nth(OsCall::start_thread, 1, error);
        const Status status = os::Thread::start([](void*) {}, nullptr).status();
        inject::clear();
        return status;
    };
    EXPECT_EQ(status_for(EAGAIN), Status::too_many_threads);
    EXPECT_EQ(status_for(ENOMEM), Status::out_of_memory);
    EXPECT_EQ(status_for(EINVAL), Status::bad_argument);
}

// These are made once in a process, so each answer is taken in a process of its own.
class OnceInAProcess : public testing::Test {
protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
    void TearDown() override { GTEST_FLAG_SET(death_test_style, "fast"); }

    // Exits with 0 when the first try fails with the status and the second works.
    [[noreturn]] static void fail_once(OsCall call, int error, Status expected, Status (*run)()) {
        inject::fail_nth(call, 1, error);
        const Status first = run();
        const Status second = run();
        std::_Exit(!inject::has_fired() ? 1 : first != expected ? 2 : second != Status::ok ? 3 : 0);
    }

    static Status set_exit_value() {
        static const auto key = os::make_thread_exit_key([](void*) {});
        int value = 0;
        return os::set_thread_exit_value(*key, &value).status();
    }

    static Status add_hooks() {
        return os::add_fork_hooks({.prepare = [](void*) {}}).status();
    }
};

TEST_F(OnceInAProcess, TheKeyOfThreadExits) {
    EXPECT_EXIT(fail_once(OsCall::make_thread_key, EAGAIN, Status::capacity_exhausted, set_exit_value),
                testing::ExitedWithCode(0), "");
    EXPECT_EXIT(fail_once(OsCall::make_thread_key, ENOMEM, Status::out_of_memory, set_exit_value),
                testing::ExitedWithCode(0), "");
    EXPECT_EXIT(fail_once(OsCall::set_thread_value, ENOMEM, Status::out_of_memory, set_exit_value),
                testing::ExitedWithCode(0), "");
}

TEST_F(OnceInAProcess, TheRegistrationOfForkHooks) {
    EXPECT_EXIT(fail_once(OsCall::register_fork_hooks, ENOMEM, Status::out_of_memory, add_hooks),
                testing::ExitedWithCode(0), "");
}

TEST(FaultInjection, ErrorNumbersBecomeTheirStatus) {
    const auto status_for = [](OsCall call, int error) {
        inject::fail_nth(call, 1, error);
        const Status status = os::MemoryObject::create(4096, "status").status();
        inject::clear();
        return status;
    };
    EXPECT_EQ(status_for(OsCall::create_memory_object, EMFILE), Status::too_many_files);
    EXPECT_EQ(status_for(OsCall::create_memory_object, ENOSYS), Status::not_supported);
    EXPECT_EQ(status_for(OsCall::resize_object, ENOMEM), Status::out_of_memory);
    EXPECT_EQ(status_for(OsCall::resize_object, EFBIG), Status::size_overflow);
    EXPECT_EQ(status_for(OsCall::seal_object, EPERM), Status::permission_denied);
}

}  // namespace
