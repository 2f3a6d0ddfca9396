#include "mapping_table.hpp"
#include "tracking_support.hpp"

#include <ouro/os/capabilities.hpp>
#include <ouro/os/fault_injection.hpp>
#include <ouro/os/fault_tracker.hpp>
#include <ouro/os/fork_hooks.hpp>
#include <ouro/os/futex.hpp>
#include <ouro/os/huge_pages.hpp>
#include <ouro/os/kernel_tracker.hpp>
#include <ouro/os/memory_object.hpp>
#include <ouro/os/memory_pressure.hpp>
#include <ouro/os/numa.hpp>
#include <ouro/os/process_barrier.hpp>
#include <ouro/os/process_memory.hpp>
#include <ouro/os/remap.hpp>
#include <ouro/os/reservation.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/os/thread_exit.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>

namespace {

using ouro::Status;
using ouro::os::OsCall;
namespace os = ouro::os;
namespace inject = ouro::os::fault_injection;

struct Operation {
    const char* name;
    // Does the whole of something, undoes it, and returns the first failure.
    Status (*run)();
};

Status reserve_and_commit() {
    auto memory =
        os::Reservation::create({.bytes = 8 * os::page_size(), .alignment = std::size_t{1} << 20}, 1);
    if (!memory) return memory.status();
    for (const Status step :
         {memory->commit(0, 4 * os::page_size()).status(),
          os::prefault(memory->block().sub(0, os::page_size())).status(),
          os::discard(memory->block().sub(0, os::page_size())).status(),
          os::protect(memory->block().sub(0, os::page_size()), os::Protection::read).status(),
          memory->decommit(0, os::page_size()).status()}) {
        if (step != Status::ok) return step;
    }
    return Status::ok;
}

Status reserve_aligned() {
    const auto block = os::reserve({.bytes = os::page_size(), .alignment = std::size_t{1} << 20});
    if (!block) return block.status();
    // A failing release leaves the block to be released again.
    const Status released = os::release(*block).status();
    return released == Status::ok ? released : os::release(*block) ? released : Status::corrupt_data;
}

Status make_memory_object() {
    auto object = os::MemoryObject::create(4 * os::page_size(), "sweep");
    if (!object) return object.status();
    if (const auto grown = object->grow(8 * os::page_size()); !grown) return grown.status();
    auto place = os::Reservation::create({.bytes = object->size()});
    if (!place) return place.status();
    const auto mapping = object->map({.bytes = object->size()});
    if (!mapping) return mapping.status();
    const auto within = object->map({.bytes = object->size(), .within = place->block()});
    if (!within) return within.status();
    return object->discard(0, os::page_size()).status();
}

Status track_by_kernel() {
    auto memory = os::Reservation::create({.bytes = 4 * os::page_size()});
    if (!memory) return memory.status();
    if (const auto committed = memory->commit(0, memory->block().size); !committed) return committed.status();
    auto tracker = os::KernelTracker::create();
    if (!tracker) return tracker.status();
    if (const auto added = tracker->add(memory->block()); !added) return added.status();
    memory->block().data[0] = std::byte{1};
    std::array<os::WrittenRange, 2> out;
    if (const auto scanned = tracker->scan(memory->block(), out, os::AfterScan::rearm); !scanned) {
        return scanned.status();
    }
    for (const Status step :
         {tracker->open(memory->block()).status(), tracker->arm(memory->block()).status()}) {
        if (step != Status::ok) return step;
    }
    return tracker->remove(memory->block()).status();
}

Status track_by_faults() {
    auto memory = os::Reservation::create({.bytes = 4 * os::page_size()});
    if (!memory) return memory.status();
    if (const auto committed = memory->commit(0, memory->block().size); !committed) return committed.status();
    auto tracker = os::FaultTracker::create(memory->block(), os::page_size());
    if (!tracker) return tracker.status();
    memory->block().data[0] = std::byte{1};
    std::array<os::WrittenRange, 2> out;
    const auto scanned = tracker->scan(memory->block(), out, os::AfterScan::rearm);
    if (!scanned) return scanned.status();
    // Whatever failed in the handler, the write is there and reported.
    return scanned->count >= 1 && memory->block().data[0] == std::byte{1} ? Status::ok : Status::corrupt_data;
}

Status use_huge_pages() {
    const auto huge = os::allocate_huge(1, os::PageKind::reserved);
    if (!huge) return huge.status();
    const Status released = os::release_huge(*huge).status();
    return released == Status::ok ? released : os::release_huge(*huge) ? released : Status::corrupt_data;
}

Status run_thread() {
    auto thread = os::Thread::start([](void*) {}, nullptr, {.core = 0});
    if (!thread) return thread.status();
    thread->join();
    return os::pin_this_thread(0).status();
}

Status ask_system() {
    const os::Capabilities report = os::query_capabilities();
    if (!report.memory) return report.memory.status();
    if (os::current_numa_node() >= os::numa_node_count()) return Status::corrupt_data;
    int here = 0;
    return os::numa_node_of(&here).status();
}

Status grow_by_remap() {
    const auto block = os::reserve({.bytes = 4 * os::page_size()});
    if (!block) return block.status();
    // Free addresses behind the block, so that it can grow in place.
    if (const auto cut = os::release(block->sub(2 * os::page_size(), 2 * os::page_size())); !cut)
        return cut.status();
    ouro::MemoryBlock held = block->sub(0, 2 * os::page_size());
    Status status = os::commit(held).status();
    if (status == Status::ok) {
        const auto larger = os::extend(held, 3 * os::page_size());
        held = larger ? *larger : held;
        status = larger.status();
    }
    if (status == Status::ok) {
        const auto moved = os::move_and_extend(held, 64 * os::page_size());
        held = moved ? *moved : held;
        status = moved.status();
    }
    return os::release(held) ? status : Status::corrupt_data;
}

Status end_a_thread() {
    static const auto key = os::make_thread_exit_key([](void*) {});
    if (!key) return key.status();
    Status status = Status::corrupt_data;
    auto thread = os::Thread::start(
        [](void* result) {
            *static_cast<Status*>(result) = os::set_thread_exit_value(*key, result).status();
        },
        &status);
    if (!thread) return thread.status();
    thread->join();
    return status;
}

Status order_a_barrier() {
    return os::process_barrier().status();
}

Status ask_own_memory() {
    return os::process_memory().status();
}

constexpr Operation kOperations[] = {
    {"reserve_and_commit", reserve_and_commit},
    {"reserve_aligned", reserve_aligned},
    {"make_memory_object", make_memory_object},
    {"track_by_kernel", track_by_kernel},
    {"track_by_faults", track_by_faults},
    {"use_huge_pages", use_huge_pages},
    {"run_thread", run_thread},
    {"ask_system", ask_system},
    {"grow_by_remap", grow_by_remap},
    {"end_a_thread", end_a_thread},
    {"order_a_barrier", order_a_barrier},
    {"ask_own_memory", ask_own_memory},
};

// Owned things end by unmapping, and what cannot be unmapped stays: that has a test of its own below.
bool is_exempt(OsCall call) {
    return call == OsCall::unmap_memory;
}

int count_open_files() {
    int count = 0;
    for (int descriptor = 0; descriptor < 256; ++descriptor)
        count += ::fcntl(descriptor, F_GETFD) >= 0 ? 1 : 0;
    return count;
}

struct Outcome {
    Status status = Status::ok;
    bool fired = false;
    std::string left_behind;
    int files_left_open = 0;
};

// Runs the operation with one use of one call failing. A leak shows up each time; a sanitizer's runtime that
// happens to map a page of its own does not.
Outcome run_failing(const Operation& operation, OsCall call, std::uint64_t nth) {
    Outcome outcome;
    const int open_files = count_open_files();
    for (int attempt = 0; attempt < 3; ++attempt) {
        os::testing_support::NoMappingLeak::mark();
        inject::fail_nth(call, nth, ENOMEM);
        outcome.status = operation.run();
        outcome.fired = inject::has_fired();
        inject::clear();
        outcome.left_behind = os::testing_support::NoMappingLeak::difference();
        if (outcome.left_behind.empty()) break;
    }
    outcome.files_left_open = count_open_files() - open_files;
    return outcome;
}

class FaultSweep : public testing::TestWithParam<Operation> {
protected:
    void SetUp() override { (void)GetParam().run(); }
    void TearDown() override { inject::clear(); }
};

// Fails each use of each call in turn. The operation either gives a reason or did without the call; nothing
// is left behind, and it works again afterwards.
TEST_P(FaultSweep, EveryFailureIsCleanlyReported) {
    const Operation& operation = GetParam();
    unsigned failures = 0;
    for (unsigned number = 0; number < os::kOsCallCount; ++number) {
        const auto call = static_cast<OsCall>(number);
        if (is_exempt(call)) continue;
        for (std::uint64_t nth = 1;; ++nth) {
            SCOPED_TRACE(std::string(operation.name) + ": use " + std::to_string(nth) + " of " +
                         std::string(inject::name_of(call)));
            const Outcome outcome = run_failing(operation, call, nth);
            ASSERT_EQ(outcome.left_behind, "");
            ASSERT_EQ(outcome.files_left_open, 0);
            ASSERT_NE(outcome.status, Status::corrupt_data);
            if (!outcome.fired) {
                ASSERT_EQ(outcome.status, Status::ok);
                break;
            }
            ++failures;
            ASSERT_EQ(operation.run(), Status::ok);
        }
    }
    EXPECT_GT(failures, 0U);
}

INSTANTIATE_TEST_SUITE_P(Os, FaultSweep, testing::ValuesIn(kOperations),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

// A wait that fails looks like a wake-up for no reason, which every waiter has to expect.
TEST(FaultInjection, AFailedWaitIsASpuriousWakeUp) {
    const std::atomic<std::uint32_t> word{0};
    inject::fail_nth(OsCall::wait_on_word, 1, EINTR);
    EXPECT_EQ(os::wait_on(word, 0, 1'000'000'000), os::WaitOutcome::woken);
    inject::clear();
}

// The sweep above is only as good as its operations: together they use every call there is.
TEST(FaultInjection, TheSweepReachesEveryCall) {
    inject::clear();
    for (const Operation& operation : kOperations)
        EXPECT_EQ(operation.run(), Status::ok) << operation.name;
    for (unsigned number = 0; number < os::kOsCallCount; ++number) {
        const auto call = static_cast<OsCall>(number);
        // wasm32's; needs a second node; once in a process (three of them); a thread may be there before its
        // starter waits.
        const bool elsewhere = call == OsCall::grow_linear_memory || call == OsCall::bind_memory ||
                               call == OsCall::get_affinity || call == OsCall::make_thread_key ||
                               call == OsCall::register_fork_hooks || call == OsCall::wait_on_word;
        EXPECT_TRUE(elsewhere || inject::uses(call) != 0) << inject::name_of(call);
    }
    inject::clear();
}

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
