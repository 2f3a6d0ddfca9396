// No thread waits for another: one is stopped at random points of its work, as a scheduler or a debugger
// would, and the others go on allocating and freeing its blocks. No futex call is made while they do.
// Resources with locks show that the test would notice.
#include <ouro/base/random.hpp>
#include <ouro/memory/partition_allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <type_traits>

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using ouro::Expected;
using ouro::MemoryBlock;
using ouro::MemoryResource;
using ouro::Partition;
using ouro::PartitionAllocator;
using ouro::PartitionOptions;
using ouro::Random;
using ouro::SmallObjectAllocator;

constexpr std::size_t kPlaces = 256;
constexpr int kPauses = 150;
// Where each of them may cost the others their patience.
constexpr int kFewPauses = 15;
constexpr std::size_t kAlignment = 16;

// What the child tells by its exit code.
enum class Outcome : int {
    everyone_went_on = 0,
    cannot_filter = 3,
    cannot_create = 4,
    others_stood_still = 5
};

// What the child's threads share. Blocks lie in places as (address, size); null is free.
struct Shared {
    MemoryResource* heap = nullptr;
    std::array<std::atomic<std::byte*>, kPlaces> places = {};
    std::array<std::atomic<std::uint64_t>, 3> progress = {};
    std::atomic<bool> is_paused = false;
    std::atomic<bool> may_resume = false;
    std::atomic<int> filtered_threads = 0;
};
Shared g_shared;

std::size_t size_of_place(std::size_t place) {
    return 16 + place * 24;
}

void sleep_briefly() {
    const timespec moment{0, 50'000};
    ::nanosleep(&moment, nullptr);
}

// The stopped thread stays here, wherever it was in its work.
void pause_here(int) {
    g_shared.is_paused.store(true);
    while (!g_shared.may_resume.load())
        sleep_briefly();
    g_shared.is_paused.store(false);
}

// From now on a futex call of this thread kills the process.
bool forbid_futex() {
    std::array filter = {
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 1),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Frees whatever lies in a place, whoever allocated it, and puts a new block there.
void work_on(std::size_t place) {
    std::byte* const old = g_shared.places[place].exchange(nullptr);
    if (old != nullptr) g_shared.heap->deallocate({old, size_of_place(place)}, kAlignment);
    const auto block = g_shared.heap->allocate(size_of_place(place), kAlignment);
    if (!block) return;
    std::byte* const mine = g_shared.places[place].exchange(block->data);
    if (mine != nullptr) g_shared.heap->deallocate({mine, size_of_place(place)}, kAlignment);
}

void* run_worker(void* argument) {
    const auto index = reinterpret_cast<std::uintptr_t>(argument);
    if (!forbid_futex()) ::_exit(static_cast<int>(Outcome::cannot_filter));
    g_shared.filtered_threads.fetch_add(1);
    Random random(100 + index);
    for (;;) {
        work_on(random.below(kPlaces));
        g_shared.progress[index].fetch_add(1);
    }
}

// How often, and by how many steps the others must go on each time.
struct Pauses {
    int count = kPauses;
    std::uint64_t steps = 2000;
};

// True when all but the first worker go on by so many steps before the patience, in moments, is at its end.
bool others_make_progress(int patience, std::uint64_t steps) {
    const std::uint64_t second = g_shared.progress[1].load();
    const std::uint64_t third = g_shared.progress[2].load();
    for (; patience != 0; --patience) {
        if (g_shared.progress[1].load() > second + steps && g_shared.progress[2].load() > third + steps)
            return true;
        sleep_briefly();
    }
    return false;
}

// Ends the child: the workers use the resource until the process is gone.
Outcome pause_again_and_again(MemoryResource& heap, int patience, const Pauses& pauses = {}) {
    g_shared.heap = &heap;
    struct sigaction action = {};
    action.sa_handler = pause_here;
    ::sigaction(SIGUSR1, &action, nullptr);
    std::array<pthread_t, 3> threads = {};
    for (std::uintptr_t index = 0; index < threads.size(); ++index)
        ::pthread_create(&threads[index], nullptr, run_worker, reinterpret_cast<void*>(index));
    while (g_shared.filtered_threads.load() != 3)
        sleep_briefly();
    for (int pause = 0; pause < pauses.count; ++pause) {
        g_shared.may_resume.store(false);
        ::pthread_kill(threads[0], SIGUSR1);
        while (!g_shared.is_paused.load())
            sleep_briefly();
        if (!others_make_progress(patience, pauses.steps)) return Outcome::others_stood_still;
        g_shared.may_resume.store(true);
        while (g_shared.is_paused.load())
            sleep_briefly();
    }
    return Outcome::everyone_went_on;
}

// A heap in a region that is never large enough: whoever finds it full takes what the others keep.
struct FullHeap {
    static constexpr std::size_t kBytes = std::size_t{1} << 20;
};

// The same heap behind a lock of any kind: what must not be.
template <class Lock>
class LockedHeap final : public MemoryResource {
public:
    explicit LockedHeap(SmallObjectAllocator& heap) : heap_(heap) {}
    Expected<MemoryBlock> allocate(std::size_t size, std::size_t alignment) noexcept override {
        const std::lock_guard guard(lock_);
        return heap_.allocate(size, alignment);
    }
    void deallocate(MemoryBlock block, std::size_t alignment) noexcept override {
        const std::lock_guard guard(lock_);
        heap_.deallocate(block, alignment);
    }
    Expected<MemoryBlock> reallocate(MemoryBlock block, std::size_t new_size,
                                     std::size_t alignment) noexcept override {
        const std::lock_guard guard(lock_);
        return heap_.reallocate(block, new_size, alignment);
    }
    bool owns(const void* address) const noexcept override { return heap_.owns(address); }
    ouro::ResourceInfo info() const noexcept override { return heap_.info(); }
    ouro::ResourceStats stats() const noexcept override { return heap_.stats(); }
    ouro::Status check() const noexcept override { return heap_.check(); }

private:
    SmallObjectAllocator& heap_;
    Lock lock_;
};

// Waits without a system call that could give it away.
class SpinLock {
public:
    void lock() noexcept {
        while (is_taken_.exchange(true, std::memory_order_acquire)) {
        }
    }
    void unlock() noexcept { is_taken_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> is_taken_ = false;
};

// Of the heap itself, or of a LockedHeap on it.
template <class Resource>
Outcome pause_on(int patience) {
    // Never ended, as the workers are not.
    static auto heap =
        SmallObjectAllocator::create({.max_bytes = std::size_t{256} << 20, .purge_threshold_bytes = 0});
    if (!heap) return Outcome::cannot_create;
    if constexpr (std::is_same_v<Resource, SmallObjectAllocator>) {
        return pause_again_and_again(*heap, patience);
    } else {
        static Resource locked(*heap);
        return pause_again_and_again(locked, patience);
    }
}

template <>
Outcome pause_on<FullHeap>(int patience) {
    alignas(4096) static std::array<std::byte, FullHeap::kBytes> region;
    static auto heap = SmallObjectAllocator::create_in({region.data(), region.size()});
    // A step may take the bounded time for which one waits for a heap that another has.
    constexpr Pauses kFew{.count = kFewPauses, .steps = 50};
    return heap ? pause_again_and_again(*heap, patience, kFew) : Outcome::cannot_create;
}

template <>
Outcome pause_on<Partition>(int patience) {
    static constexpr PartitionOptions kPart{.max_bytes = std::size_t{256} << 20,
                                            .thread_safety = ouro::ThreadSafety::any_thread,
                                            .keep_empty_bytes = 0};
    static auto set = PartitionAllocator::create({.partitions = {&kPart, 1}});
    return set ? pause_again_and_again((*set)[0], patience) : Outcome::cannot_create;
}

// How the child ended, as waitpid tells.
template <class Resource>
int run_in_child(int patience) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(static_cast<int>(pause_on<Resource>(patience)));
    int state = 0;
    EXPECT_GT(child, 0);
    EXPECT_EQ(::waitpid(child, &state, 0), child);
    return state;
}

constexpr int kMuchPatience = 200'000;
// Enough where the others stand still for ever.
constexpr int kSomePatience = 3000;

TEST(PausedThread, StopsNobodyElseAndNoFutexIsCalled) {
    const int state = run_in_child<SmallObjectAllocator>(kMuchPatience);
    ASSERT_TRUE(WIFEXITED(state)) << "killed by signal " << WTERMSIG(state) << " (31: a futex call was made)";
    EXPECT_EQ(static_cast<Outcome>(WEXITSTATUS(state)), Outcome::everyone_went_on)
        << "5: the others stood still while one was paused";
}

TEST(PausedThread, StopsNobodyElseInTheSamePartition) {
    const int state = run_in_child<Partition>(kMuchPatience);
    ASSERT_TRUE(WIFEXITED(state)) << "killed by signal " << WTERMSIG(state) << " (31: a futex call was made)";
    EXPECT_EQ(static_cast<Outcome>(WEXITSTATUS(state)), Outcome::everyone_went_on)
        << "5: the others stood still while one was paused";
}

// Also not while it has another's heap, to take what that one keeps.
TEST(PausedThread, StopsNobodyElseInAHeapThatIsFull) {
    const int state = run_in_child<FullHeap>(kMuchPatience);
    ASSERT_TRUE(WIFEXITED(state)) << "killed by signal " << WTERMSIG(state) << " (31: a futex call was made)";
    EXPECT_EQ(static_cast<Outcome>(WEXITSTATUS(state)), Outcome::everyone_went_on)
        << "5: the others stood still while one was paused";
}

TEST(PausedThread, AMutexIsFoundByItsFutexCall) {
    const int state = run_in_child<LockedHeap<std::mutex>>(kMuchPatience);
    ASSERT_TRUE(WIFSIGNALED(state)) << "ended with " << WEXITSTATUS(state);
    EXPECT_EQ(WTERMSIG(state), SIGSYS);
}

TEST(PausedThread, ASpinLockIsFoundByTheStandStill) {
    const int state = run_in_child<LockedHeap<SpinLock>>(kSomePatience);
    ASSERT_TRUE(WIFEXITED(state)) << "killed by signal " << WTERMSIG(state);
    EXPECT_EQ(static_cast<Outcome>(WEXITSTATUS(state)), Outcome::others_stood_still);
}

}  // namespace
