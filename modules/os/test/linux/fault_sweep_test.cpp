#include "mapping_table.hpp"
#include "tracking_support.hpp"

#include <ouro/os/capabilities.hpp>
#include <ouro/os/fault_injection.hpp>
#include <ouro/os/fault_tracker.hpp>
#include <ouro/os/file_input.hpp>
#include <ouro/os/file_output.hpp>
#include <ouro/os/futex.hpp>
#include <ouro/os/huge_pages.hpp>
#include <ouro/os/kernel_tracker.hpp>
#include <ouro/os/memory_object.hpp>
#include <ouro/os/memory_pressure.hpp>
#include <ouro/os/numa.hpp>
#include <ouro/os/other_process.hpp>
#include <ouro/os/process_barrier.hpp>
#include <ouro/os/process_memory.hpp>
#include <ouro/os/remap.hpp>
#include <ouro/os/reservation.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/os/thread_exit.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

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

Status open_memory_object() {
    static const auto object = os::MemoryObject::create(os::page_size(), "sweep");
    if (!object) return object.status();
    const auto same = os::MemoryObject::open(object->descriptor());
    if (!same) return same.status();
    const auto read_only = os::MemoryObject::open_of(os::process_id(), object->descriptor());
    if (!read_only) return read_only.status();
    return read_only->map({.bytes = read_only->size(), .protection = os::Protection::read}).status();
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

// What is refused leaves the bytes where they were.
Status move_pages_by_remap() {
    const auto block = os::reserve({.bytes = os::page_size()});
    if (!block) return block.status();
    Status status = os::commit(*block).status();
    if (status == Status::ok) {
        block->data[0] = std::byte{7};
        const auto room = os::reserve({.bytes = 2 * os::page_size()});
        status = room.status();
        const auto moved = room ? os::move_pages_into(*block, *room) : room;
        if (status == Status::ok) status = moved.status();
        const std::byte* const bytes = moved ? moved->data : block->data;
        if (bytes[0] != std::byte{7}) status = Status::corrupt_data;
        if (moved && !os::release(*moved)) status = Status::corrupt_data;
        // A real refusal has emptied the room, a played one has not. With other threads it could be theirs by
        // now, and nobody might do this.
        if (room && !moved) ::munmap(room->data, room->size);
    }
    return os::release(*block) ? status : Status::corrupt_data;
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

Status write_a_file() {
    const std::string path = testing::TempDir() + "ouro-sweep-" + std::to_string(os::process_id());
    auto file = os::FileOutput::create(path.c_str());
    if (!file) return file.status();
    const std::array<std::byte, 8> bytes{};
    if (const auto written = file->write(bytes); !written) return written.status();
    if (const auto flushed = file->flush(); !flushed) return flushed.status();
    const Status finished = file->finish().status();
    std::remove(path.c_str());
    return finished;
}

Status read_a_file() {
    static const std::string path = testing::TempDir() + "ouro-sweep-in-" + std::to_string(os::process_id());
    if (!std::filesystem::exists(path)) std::ofstream(path) << "some bytes";
    const auto file = os::FileInput::open(path.c_str());
    if (!file) return file.status();
    std::array<std::byte, 10> bytes{};
    const auto count = file->read_at(0, bytes);
    if (!count) return count.status();
    auto pages = os::Reservation::create({.bytes = os::page_size()});
    if (!pages) return pages.status();
    if (const auto mapped = file->map_over(pages->block()); !mapped) return mapped.status();
    const bool is_same = std::memcmp(bytes.data(), pages->block().data, bytes.size()) == 0;
    return is_same && *count == bytes.size() ? Status::ok : Status::corrupt_data;
}

Status look_at_own_process() {
    static std::array<std::byte, 16> there;
    std::array<std::byte, 16> here;
    return os::read_process_memory(os::process_id(), reinterpret_cast<std::uintptr_t>(there.data()), here)
        .status();
}

constexpr Operation kOperations[] = {
    {"reserve_and_commit", reserve_and_commit},
    {"reserve_aligned", reserve_aligned},
    {"make_memory_object", make_memory_object},
    {"open_memory_object", open_memory_object},
    {"track_by_kernel", track_by_kernel},
    {"track_by_faults", track_by_faults},
    {"use_huge_pages", use_huge_pages},
    {"run_thread", run_thread},
    {"ask_system", ask_system},
    {"grow_by_remap", grow_by_remap},
    {"move_pages_by_remap", move_pages_by_remap},
    {"end_a_thread", end_a_thread},
    {"order_a_barrier", order_a_barrier},
    {"ask_own_memory", ask_own_memory},
    {"write_a_file", write_a_file},
    {"read_a_file", read_a_file},
    {"look_at_own_process", look_at_own_process},
};

// Once, or from then on.
using Fail = void (*)(OsCall call, std::uint64_t nth, int error) noexcept;

// Owned things end by unmapping, and what cannot be unmapped stays: that has a test of its own below. While
// it lasts, a mapping within a reservation, which ends by mapping, cannot end either, which is an assert; and
// protected memory cannot be opened for the writer that is waiting for it.
bool is_exempt(const Operation& operation, Fail fail, OsCall call) {
    if (call == OsCall::unmap_memory) return true;
    if (fail == inject::fail_nth) return false;
    return (operation.run == make_memory_object && call == OsCall::map_memory) ||
           (operation.run == track_by_faults && call == OsCall::protect_memory);
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
Outcome run_failing(const Operation& operation, Fail fail, OsCall call, std::uint64_t nth) {
    Outcome outcome;
    const int open_files = count_open_files();
    for (int attempt = 0; attempt < 3; ++attempt) {
        os::testing_support::NoMappingLeak::mark();
        fail(call, nth, ENOMEM);
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
    static void sweep(Fail fail);
};

// Fails each use of each call in turn. The operation either gives a reason or did without the call; nothing
// is left behind, and it works again afterwards.
void FaultSweep::sweep(Fail fail) {
    const Operation& operation = GetParam();
    unsigned failures = 0;
    for (unsigned number = 0; number < os::kOsCallCount; ++number) {
        const auto call = static_cast<OsCall>(number);
        if (is_exempt(operation, fail, call)) continue;
        for (std::uint64_t nth = 1;; ++nth) {
            SCOPED_TRACE(std::string(operation.name) + ": use " + std::to_string(nth) + " of " +
                         std::string(inject::name_of(call)));
            const Outcome outcome = run_failing(operation, fail, call, nth);
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

TEST_P(FaultSweep, EveryFailureIsCleanlyReported) {
    sweep(inject::fail_nth);
}

TEST_P(FaultSweep, EveryFailureThatLastsIsCleanlyReported) {
    sweep(inject::fail_from);
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

}  // namespace
