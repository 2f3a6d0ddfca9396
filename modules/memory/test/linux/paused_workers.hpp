#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <random>

#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// Three threads at work, of which one is stopped at random points, as a scheduler or a debugger would. The
// others must go on, and none may call futex. For a process of its own: the threads never end.
namespace ouro::testing_support {

// What such a process tells by its exit code.
enum class Outcome : int {
    everyone_went_on = 0,
    cannot_filter = 3,
    cannot_create = 4,
    others_stood_still = 5,
    // Where it should not.
    call_failed = 6
};

enum class Forbidden {
    every_futex_call,
    // To wake another is a call too, but waits for nobody.
    futex_calls_but_wake
};

// How often, and by how many steps the others must go on each time.
struct Pauses {
    int count = 150;
    std::uint64_t steps = 2000;
};

// One step of a worker; `random` is any number.
using WorkStep = void (*)(std::size_t worker, std::uint32_t random);

struct PausedWork {
    WorkStep step = nullptr;
    // What a thread does once, before anything is forbidden to it; null for nothing.
    void (*prepare)() = nullptr;
    Forbidden forbidden = Forbidden::every_futex_call;
    std::array<std::atomic<std::uint64_t>, 3> progress = {};
    std::atomic<bool> is_paused = false;
    std::atomic<bool> may_resume = false;
    std::atomic<int> filtered_threads = 0;
};
inline PausedWork g_work;

inline void sleep_briefly() {
    const timespec moment{0, 50'000};
    ::nanosleep(&moment, nullptr);
}

// The stopped thread stays here, wherever it was in its work.
inline void pause_here(int) {
    g_work.is_paused.store(true);
    while (!g_work.may_resume.load())
        sleep_briefly();
    g_work.is_paused.store(false);
}

// From now on such a call of this thread kills the process.
inline bool forbid_futex() {
    const bool allows_wake = g_work.forbidden == Forbidden::futex_calls_but_wake;
    const unsigned wake = allows_wake ? FUTEX_WAKE : ~0U;
    std::array filter = {
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 4),
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),
        sock_filter BPF_STMT(BPF_ALU | BPF_AND | BPF_K, static_cast<unsigned>(FUTEX_CMD_MASK)),
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, wake, 1, 0),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

inline void* run_worker(void* argument) {
    const auto index = reinterpret_cast<std::uintptr_t>(argument);
    if (g_work.prepare != nullptr) g_work.prepare();
    if (!forbid_futex()) ::_exit(static_cast<int>(Outcome::cannot_filter));
    g_work.filtered_threads.fetch_add(1);
    std::minstd_rand random(static_cast<std::uint32_t>(100 + index));
    for (;;) {
        g_work.step(index, static_cast<std::uint32_t>(random()));
        g_work.progress[index].fetch_add(1);
    }
}

// True when all but the first worker go on by so many steps before the patience, in moments, is at its end.
inline bool others_make_progress(int patience, std::uint64_t steps) {
    const std::uint64_t second = g_work.progress[1].load();
    const std::uint64_t third = g_work.progress[2].load();
    for (; patience != 0; --patience) {
        if (g_work.progress[1].load() > second + steps && g_work.progress[2].load() > third + steps)
            return true;
        sleep_briefly();
    }
    return false;
}

// The workers go on until the process is gone.
inline Outcome pause_again_and_again(WorkStep step, int patience, const Pauses& pauses = {},
                                     Forbidden forbidden = Forbidden::every_futex_call) {
    g_work.step = step;
    g_work.forbidden = forbidden;
    struct sigaction action = {};
    action.sa_handler = pause_here;
    ::sigaction(SIGUSR1, &action, nullptr);
    std::array<pthread_t, 3> threads = {};
    for (std::uintptr_t index = 0; index < threads.size(); ++index)
        ::pthread_create(&threads[index], nullptr, run_worker, reinterpret_cast<void*>(index));
    while (g_work.filtered_threads.load() != 3)
        sleep_briefly();
    for (int pause = 0; pause < pauses.count; ++pause) {
        g_work.may_resume.store(false);
        ::pthread_kill(threads[0], SIGUSR1);
        while (!g_work.is_paused.load())
            sleep_briefly();
        if (!others_make_progress(patience, pauses.steps)) return Outcome::others_stood_still;
        g_work.may_resume.store(true);
        while (g_work.is_paused.load())
            sleep_briefly();
    }
    return Outcome::everyone_went_on;
}

}  // namespace ouro::testing_support
