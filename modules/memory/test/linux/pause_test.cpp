// No thread waits for another: one is stopped at random points of its work, as a scheduler or a debugger
// would, and the others go on allocating and freeing its blocks. No futex call is made while they do.
#include <ouro/base/random.hpp>
#include <ouro/memory/small_object_allocator.hpp>

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>

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

using ouro::MemoryBlock;
using ouro::Random;
using ouro::SmallObjectAllocator;

constexpr std::size_t kPlaces = 256;
constexpr int kPauses = 150;

// What the child's threads share. Blocks lie in places as (address, size); null is free.
struct Shared {
    SmallObjectAllocator* heap = nullptr;
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
    if (old != nullptr) g_shared.heap->deallocate({old, size_of_place(place)});
    const auto block = g_shared.heap->allocate(size_of_place(place));
    if (!block) return;
    std::byte* const mine = g_shared.places[place].exchange(block->data);
    if (mine != nullptr) g_shared.heap->deallocate({mine, size_of_place(place)});
}

void* run_worker(void* argument) {
    const auto index = reinterpret_cast<std::uintptr_t>(argument);
    if (!forbid_futex()) ::_exit(3);
    g_shared.filtered_threads.fetch_add(1);
    Random random(100 + index);
    for (;;) {
        work_on(random.below(kPlaces));
        g_shared.progress[index].fetch_add(1);
    }
}

// True when all but the first worker go on by many steps within some seconds.
bool others_make_progress() {
    constexpr std::uint64_t kSteps = 2000;
    const std::uint64_t second = g_shared.progress[1].load();
    const std::uint64_t third = g_shared.progress[2].load();
    for (int patience = 0; patience < 200'000; ++patience) {
        if (g_shared.progress[1].load() > second + kSteps && g_shared.progress[2].load() > third + kSteps)
            return true;
        sleep_briefly();
    }
    return false;
}

int pause_again_and_again() {
    // Never ended: the workers use it until the process is gone.
    static auto heap =
        SmallObjectAllocator::create({.max_bytes = std::size_t{256} << 20, .purge_threshold_bytes = 0});
    if (!heap) return 4;
    g_shared.heap = &*heap;
    struct sigaction action = {};
    action.sa_handler = pause_here;
    ::sigaction(SIGUSR1, &action, nullptr);
    std::array<pthread_t, 3> threads = {};
    for (std::uintptr_t index = 0; index < threads.size(); ++index)
        ::pthread_create(&threads[index], nullptr, run_worker, reinterpret_cast<void*>(index));
    while (g_shared.filtered_threads.load() != 3)
        sleep_briefly();
    for (int pause = 0; pause < kPauses; ++pause) {
        g_shared.may_resume.store(false);
        ::pthread_kill(threads[0], SIGUSR1);
        while (!g_shared.is_paused.load())
            sleep_briefly();
        if (!others_make_progress()) return 5;
        g_shared.may_resume.store(true);
        while (g_shared.is_paused.load())
            sleep_briefly();
    }
    return 0;
}

TEST(PausedThread, StopsNobodyElseAndNoFutexIsCalled) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(pause_again_and_again());
    ASSERT_GT(child, 0);
    int state = 0;
    ASSERT_EQ(::waitpid(child, &state, 0), child);
    ASSERT_TRUE(WIFEXITED(state)) << "killed by signal " << WTERMSIG(state) << " (31: a futex call was made)";
    EXPECT_EQ(WEXITSTATUS(state), 0) << "5: the others stood still while one was paused";
}

}  // namespace
