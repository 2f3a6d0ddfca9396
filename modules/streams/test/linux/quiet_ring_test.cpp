// After warm-up a tick allocates nothing and calls the system for nothing but what its tracker and sleeping
// workers need: every other call is caught and counted. So is each call by which this program, which the
// library is a part of, asks the C and C++ libraries for memory, whether it is given back or not.
#include "child_process.hpp"
#include "past_walker.hpp"

#include <ouro/jobs/job_pool.hpp>
#include <ouro/memory/observer.hpp>
#include <ouro/os/heap_calls.hpp>
#include <ouro/streams/state_ring.hpp>

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ouro {
namespace {

using os::testing_support::run_in_child;

std::atomic<unsigned> g_caught = 0;
std::atomic<int> g_last_caught = 0;

void catch_call(int, siginfo_t* info, void*) {
    g_caught.fetch_add(1);
    g_last_caught.store(info->si_syscall);
}

// From now on every call of any thread but these does not happen, and is counted.
bool catch_all_but(std::initializer_list<int> allowed) {
    struct sigaction action{};
    action.sa_sigaction = catch_call;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSYS, &action, nullptr);
    std::vector<sock_filter> filter = {
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
    for (const int call : allowed) {
        filter.push_back(sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
        filter.push_back(sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    }
    filter.push_back(sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP));
    const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

struct AllocationCounter final : MemoryObserver {
    void on_allocate(const MemoryEvent&) noexcept override { ++count; }
    void on_reallocate(const MemoryEvent&) noexcept override { ++count; }
    void on_block_registered(const BlockInfo&) noexcept override { ++count; }
    void on_block_changed(const BlockInfo&) noexcept override { ++count; }
    std::atomic<unsigned> count = 0;
};

// Calls of malloc and its family, operator new, strdup and mmap, by any thread.
std::atomic<unsigned> g_heap_calls = 0;

void count_heap_call(void*, const os::HeapCall&) {
    g_heap_calls.fetch_add(1);
}

constexpr std::array kProgram = {os::HeapCallWatch::kProgram};

// Whether the watch sees what the program does: a test that cannot fail says nothing.
bool sees_heap_calls() {
    const unsigned before = g_heap_calls.load();
    for (int way = 0; way < 2; ++way) {
        void* volatile block = way == 0 ? std::malloc(10) : ::operator new(10);
        way == 0 ? std::free(block) : ::operator delete(block);
    }
    return g_heap_calls.exchange(0) == before + 2;
}

// What a library outside would keep: kept with the ring where the kind says so.
std::array<unsigned, 3000> g_outside{};

// Some pages always, some now and then.
bool run_tick(StateRing& ring, MemoryBlock world, unsigned tick) {
    const std::size_t pages = world.size / kStatePageBytes;
    g_outside[tick * 100 % g_outside.size()] = tick;
    for (unsigned i = 0; i < 300; ++i) {
        const std::size_t page = i < 40 ? i : (i * 7 + tick * 13) % pages;
        std::byte* at = world.data + page * kStatePageBytes + tick % 4000;
        std::memcpy(at, &tick, sizeof(tick));
        (void)ring.mark(at, sizeof(tick));
    }
    testing_support::TickSeal::write(ring);
    return ring.commit().has_value();
}

// Back by five ticks, and the same ones again: they are what they were.
bool run_again(StateRing& ring, MemoryBlock world, unsigned tick) {
    const std::uint64_t hash = *ring.hash(ring.newest());
    if (!ring.rollback(ring.newest() - 5)) return false;
    for (unsigned each = tick - 4; each <= tick; ++each)
        if (!run_tick(ring, world, each)) return false;
    return *ring.hash(ring.newest()) == hash;
}

// Looked at from the past, and gone back by some ticks each tenth: to go on otherwise, or the same way.
bool run_ticks(StateRing& ring, MemoryBlock world, unsigned begin, unsigned end) {
    for (unsigned tick = begin; tick < end; ++tick) {
        if (!run_tick(ring, world, tick)) return false;
        if (tick < 10) continue;
        const auto past = ring.view(ring.newest() - 3);
        if (!past || past->page(2) == nullptr) return false;
        if (tick % 30 == 1 && !testing_support::TickSeal::is_true(*past)) return false;
        if (tick % 20 == 9 && !ring.rollback(ring.newest() - 5)) return false;
        if (tick % 20 == 19 && !run_again(ring, world, tick)) return false;
    }
    return true;
}

// How a ring is made; packed histories are thinned out as well.
struct Kind {
    Tracking tracking = Tracking::declared;
    unsigned workers = 0;
    bool packing = false;
    // Lines instead of pages; bytes that do not count in hashes; memory outside the image.
    bool fine = false;
    bool masks = false;
    bool outside = false;
    // Another thread reads the past meanwhile.
    bool reader = false;
};

// The same once more as long as the reader has hardly read anything.
bool run_beside(StateRing& ring, MemoryBlock world, const testing_support::PastWalker* reader) {
    constexpr std::uint64_t kEnough = 30;
    const std::uint64_t before = reader != nullptr ? reader->views() : 0;
    for (int round = 0; round < 2000; ++round) {
        if (!run_ticks(ring, world, 10, 310)) return false;
        if (reader == nullptr || reader->views() >= before + kEnough) return true;
    }
    return false;
}

// Whether everything has been done once. Workers that are late may find no time to thin out between two
// rollbacks.
bool has_packed(const StateRing& ring, const Kind& kind) {
    if (ring.stats().packed_versions == 0) return false;
    if (kind.workers != 0) return true;
    for (Tick tick = ring.oldest(); tick < ring.newest(); ++tick)
        if (*ring.nearest(tick) != tick) return true;
    return false;
}

bool prepare(StateRing& ring, const Kind& kind) {
    const MemoryBlock world = *ring.segment_block("world");
    if (kind.masks)
        for (const std::size_t page : {std::size_t{0}, std::size_t{7}, std::size_t{40}})
            if (!ring.mask(world.data + page * kStatePageBytes + 8, 500)) return false;
    if (!kind.outside) return true;
    const MemoryBlock outside{reinterpret_cast<std::byte*>(g_outside.data()), sizeof(g_outside)};
    return ring.keep_outside("outside", outside).has_value();
}

bool warm_up(StateRing& ring, MemoryBlock world, const Kind& kind) {
    if (!run_ticks(ring, world, 0, 300)) return false;
    for (int round = 0; kind.packing && round < 1000; ++round) {
        if (has_packed(ring, kind)) return true;
        if (!run_ticks(ring, world, 10, 310)) return false;
    }
    return !kind.packing;
}

// For as long as the process lives; a ring that ends stops it before.
testing_support::PastWalker g_reader;

struct StoppedReader {
    ~StoppedReader() { g_reader.stop(); }
};

int count_calls(const Kind& kind, JobPool* jobs, std::initializer_list<int> allowed) {
    AllocationCounter allocations;
    const std::array segments = {
        SegmentOptions{.name = "world", .bytes = 4 << 20, .tracking = kind.tracking, .fine = kind.fine},
        SegmentOptions{.name = "outside", .bytes = 64 << 10, .kind = SegmentKind::process_bound}};
    auto ring = StateRing::create({.segments = segments,
                                   .history_ticks = kind.packing ? 40U : 64U,
                                   .history_bytes = 64 << 20,
                                   .packing = kind.packing,
                                   .dense_ticks = 8,
                                   .thinned_ticks = kind.packing ? 80U : 0U,
                                   .thin_every = 8,
                                   .jobs = jobs});
    if (!ring) return ring.status() == Status::not_supported ? 77 : 1;
    const MemoryBlock world = *ring->segment_block("world");
    if (!prepare(*ring, kind)) return 9;
    const StoppedReader stopped;
    if (kind.reader) g_reader.start(*ring);
    if (!warm_up(*ring, world, kind) || !add_observer(allocations)) return 2;
    // It stays: with the calls that are left it could not be ended.
    const auto watch = os::HeapCallWatch::create(kProgram, count_heap_call, nullptr);
    if (!watch || !sees_heap_calls()) return 10;
    const StateRingStats stats = ring->stats();
    if (!catch_all_but(allowed)) return 77;
    g_heap_calls.store(0);
    const auto before = ::mallinfo2();
    const bool is_done = run_beside(*ring, world, kind.reader ? &g_reader : nullptr);
    const auto after = ::mallinfo2();
    const unsigned caught = g_caught.load();
    if (!is_done) return 3;
    if (g_reader.has_seen_another()) return 13;
    if (ring->stats().pages_captured == stats.pages_captured) return 8;
    // The oldest ticks went, and there was going back.
    if (ring->stats().ticks_given_up == stats.ticks_given_up) return 14;
    if (ring->stats().rollbacks < stats.rollbacks + 30) return 15;
    if (kind.packing && kind.workers == 0 && !has_packed(*ring, kind)) return 7;
    if (kind.fine && ring->stats().packed_versions == 0) return 11;
    if (g_heap_calls.load() != 0) return 12;
    if (before.uordblks != after.uordblks || before.fordblks != after.fordblks) return 4;
    if (allocations.count.load() != 0) return 5;
    if (caught == 0) return 0;
    return 100 + (g_last_caught.load() < 100 ? g_last_caught.load() : 100);
}

void expect_quiet(const Kind& kind, std::initializer_list<int> allowed) {
    const int result = run_in_child([&] {
        auto pool = JobPool::create({.workers = kind.workers});
        if (!pool) return 6;
        const int code = count_calls(kind, kind.workers != 0 ? &*pool : nullptr, allowed);
        // The pool cannot end its threads any more.
        ::syscall(SYS_exit_group, code);
        return code;
    });
    if (result == 77) GTEST_SKIP() << "needs seccomp, and the tracker";
    EXPECT_EQ(result, 0) << "above 100: the number of a call that was made, and 100; below: see count_calls";
}

TEST(QuietRing, DeclaredTicksCallNothing) {
    expect_quiet({}, {SYS_exit_group, SYS_rt_sigreturn});
}

TEST(QuietRing, FineTicksCallNothing) {
    expect_quiet({.fine = true}, {SYS_exit_group, SYS_rt_sigreturn});
}

TEST(QuietRing, MaskedTicksCallNothing) {
    expect_quiet({.masks = true}, {SYS_exit_group, SYS_rt_sigreturn});
}

TEST(QuietRing, KeepingWhatIsOutsideCallsNothing) {
    expect_quiet({.outside = true}, {SYS_exit_group, SYS_rt_sigreturn});
}

TEST(QuietRing, WorkersOnlySleepAndWake) {
    expect_quiet({.workers = 1}, {SYS_exit_group, SYS_rt_sigreturn, SYS_futex});
}

TEST(QuietRing, AllOfItWithWorkersOnlySleepsAndWakes) {
    expect_quiet({.workers = 1, .packing = true, .fine = true, .masks = true, .outside = true},
                 {SYS_exit_group, SYS_rt_sigreturn, SYS_futex});
}

TEST(QuietRing, PackingCallsNothing) {
    expect_quiet({.packing = true}, {SYS_exit_group, SYS_rt_sigreturn});
}

TEST(QuietRing, WorkersThatPackOnlySleepAndWake) {
    expect_quiet({.workers = 1, .packing = true}, {SYS_exit_group, SYS_rt_sigreturn, SYS_futex});
}

// Readers give way too, by sleeping, and this one does while it holds a view.
TEST(QuietRing, AReaderOfThePastOnlyGivesWay) {
    expect_quiet({.reader = true}, {SYS_exit_group, SYS_rt_sigreturn, SYS_futex});
}

TEST(QuietRing, AReaderOfFineTicksOnlyGivesWay) {
    expect_quiet({.fine = true, .reader = true}, {SYS_exit_group, SYS_rt_sigreturn, SYS_futex});
}

TEST(QuietRing, AReaderOfWhatIsPackedOnlyGivesWay) {
    expect_quiet({.packing = true, .reader = true}, {SYS_exit_group, SYS_rt_sigreturn, SYS_futex});
}

TEST(QuietRing, AReaderBesideWorkersThatPackOnlyGivesWay) {
    expect_quiet({.workers = 1, .packing = true, .masks = true, .outside = true, .reader = true},
                 {SYS_exit_group, SYS_rt_sigreturn, SYS_futex});
}

TEST(QuietRing, AReaderBesideTheKernelsTrackerOnlyGivesWay) {
    expect_quiet({.tracking = Tracking::kernel, .workers = 1, .packing = true, .reader = true},
                 {SYS_exit_group, SYS_rt_sigreturn, SYS_futex, SYS_ioctl});
}

TEST(QuietRing, TheKernelsTrackerIsAsked) {
    expect_quiet({.tracking = Tracking::kernel}, {SYS_exit_group, SYS_rt_sigreturn, SYS_ioctl});
}

// Pages that are written in every tick stay open, and whether they still are the ring sees by itself.
int count_calls_for_hot_pages() {
    const SegmentOptions world{.name = "world", .bytes = 2 << 20, .tracking = Tracking::kernel};
    auto ring = StateRing::create({.segments = {&world, 1}, .history_ticks = 8, .history_bytes = 32 << 20});
    if (!ring) return ring.status() == Status::not_supported ? 77 : 1;
    const MemoryBlock block = *ring->segment_block("world");
    const auto run_to = [&](Tick last) {
        while (ring->newest() < last) {
            const Tick value = ring->newest() + 1;
            for (std::size_t at = 0; at < block.size; at += kStatePageBytes)
                std::memcpy(block.data + at + value % 4000, &value, sizeof(value));
            if (!ring->commit() || ring->stats().last_pages != block.size / kStatePageBytes) return false;
        }
        return true;
    };
    if (!run_to(10)) return 2;
    if (!catch_all_but({SYS_exit_group, SYS_rt_sigreturn})) return 77;
    if (!run_to(300)) return 3;
    const int code = g_caught.load() == 0 ? 0 : 100 + g_last_caught.load();
    ::syscall(SYS_exit_group, code);
    return code;
}

TEST(QuietRing, TheKernelIsNotAskedAboutPagesThatAreWrittenInEveryTick) {
    const int result = run_in_child(count_calls_for_hot_pages);
    if (result == 77) GTEST_SKIP() << "needs seccomp, and the tracker";
    EXPECT_EQ(result, 0) << "above 100: the number of a call that was made, and 100";
}

TEST(QuietRing, ProtectedPagesAreOpenedAndClosed) {
    expect_quiet({.tracking = Tracking::protect}, {SYS_exit_group, SYS_rt_sigreturn, SYS_mprotect});
}

TEST(QuietRing, ComparingCallsNothing) {
    expect_quiet({.tracking = Tracking::compare}, {SYS_exit_group, SYS_rt_sigreturn});
}

}  // namespace
}  // namespace ouro
