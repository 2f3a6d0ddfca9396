// Threads that end, and processes that are copied while other threads allocate.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

std::size_t threads_of_process() {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

struct IdleThreads {
    std::atomic<unsigned> begun = 0;
    std::atomic<bool> may_end = false;
};

void* be_idle(void* argument) {
    auto& threads = *static_cast<IdleThreads*>(argument);
    ++threads.begun;
    while (!threads.may_end.load())
        sched_yield();
    return nullptr;
}

// They never call malloc. When one ends, the C library gives up the stack of another, as it keeps few, and
// frees what belongs to it: on the ending thread, after all hooks.
void end_idle_threads(unsigned count) {
    IdleThreads threads;
    const std::size_t before = threads_of_process();
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
    ASSERT_EQ(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, std::size_t{8} << 20), 0);
    for (unsigned index = 0; index < count; ++index) {
        pthread_t thread;
        ASSERT_EQ(pthread_create(&thread, &attributes, be_idle, &threads), 0);
    }
    pthread_attr_destroy(&attributes);
    while (threads.begun.load() != count)
        sched_yield();
    threads.may_end.store(true);
    while (threads_of_process() > before)
        sched_yield();
}

// Before all tests of threads that use up their hooks: from then on left heaps are looked for anyway.
TEST(MallocThreads, WhatTheCLibraryFreesAfterAllHooksLeavesFewHeapsBehind) {
    constexpr std::size_t kMostGrowth = std::size_t{96} << 20;
    const std::size_t before = mallinfo2().arena;
    for (int wave = 0; wave < 20; ++wave)
        end_idle_threads(40);
    EXPECT_LT(mallinfo2().arena - before, kMostGrowth);
}

pthread_key_t g_late_key;

// Runs among the last things of a thread, again and again while rounds are left.
void allocate_late(void* block) {
    std::free(block);
    void* const next = std::malloc(3000);
    std::memset(next, 1, 3000);
    if (pthread_setspecific(g_late_key, next) != 0) std::free(next);
}

TEST(MallocThreads, EndingThreadsMayAllocateToTheLast) {
    ASSERT_EQ(pthread_key_create(&g_late_key, allocate_late), 0);
    for (int round = 0; round < 200; ++round) {
        std::thread([] {
            thread_local std::vector<int> late(1000, 7);
            late[0] = 8;
            pthread_setspecific(g_late_key, std::malloc(100));
            // The C library frees the text of an unknown error after everything else.
            volatile const char* const text = strerror(123'456);
            EXPECT_NE(text, nullptr);
        }).join();
    }
    ASSERT_EQ(pthread_key_delete(g_late_key), 0);
}

TEST(MallocThreads, BlocksOutliveTheirThreadsAndGoBackFromOthers) {
    std::vector<void*> blocks(2000);
    std::thread([&] {
        for (std::size_t index = 0; index < blocks.size(); ++index) {
            blocks[index] = std::malloc(index + 1);
            std::memset(blocks[index], static_cast<int>(index % 256), index + 1);
        }
    }).join();
    std::thread([&] {
        for (std::size_t index = 0; index < blocks.size(); ++index) {
            EXPECT_EQ(*static_cast<unsigned char*>(blocks[index]), index % 256);
            std::free(blocks[index]);
        }
    }).join();
}

// Allocates, stamps and checks; false when a stamp was overwritten.
bool use_heap(std::size_t rounds) {
    std::array<unsigned char*, 64> blocks{};
    for (std::size_t round = 0; round < rounds; ++round) {
        unsigned char*& block = blocks[round * 7 % blocks.size()];
        if (block != nullptr && block[0] != static_cast<unsigned char>(round * 7 % blocks.size()))
            return false;
        std::free(block);
        block = static_cast<unsigned char*>(std::malloc(16 + round * 37 % 6000));
        block[0] = static_cast<unsigned char>(round * 7 % blocks.size());
    }
    for (unsigned char* const block : blocks)
        std::free(block);
    return true;
}

// What a child cannot do any more would keep it for ever.
int exit_code_of_child(unsigned seconds, bool (*work)()) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(seconds);
        _exit(work() ? 0 : 1);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool work_in_child() {
    bool is_fine = use_heap(5000);
    malloc_trim(0);
    std::thread([&] { is_fine = use_heap(2000) && is_fine; }).join();
    const struct mallinfo2 info = mallinfo2();
    return is_fine && info.arena != 0;
}

TEST(MallocFork, AChildAllocatesWhateverItsSiblingsWereDoing) {
    std::atomic<bool> stops = false;
    std::vector<std::thread> siblings;
    for (int count = 0; count < 3; ++count) {
        siblings.emplace_back([&] {
            while (!stops.load())
                EXPECT_TRUE(use_heap(200));
        });
    }
    siblings.emplace_back([&] {
        while (!stops.load())
            malloc_trim(0);
    });
    for (int round = 0; round < 25; ++round)
        EXPECT_EQ(exit_code_of_child(60, work_in_child), 0) << round;
    stops.store(true);
    for (std::thread& sibling : siblings)
        sibling.join();
    EXPECT_TRUE(use_heap(2000));
}

}  // namespace
