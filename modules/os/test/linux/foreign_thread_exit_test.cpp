#include "child_process.hpp"

#include <ouro/os/thread.hpp>
#include <ouro/os/thread_exit.hpp>

#include <atomic>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>
#include <pthread.h>

namespace {

using ouro::Status;
using ouro::os::testing_support::run_in_child;
namespace os = ouro::os;

std::atomic<std::uint32_t> calls{0};

os::ThreadExitKey foreign_key() {
    static const auto key = os::make_thread_exit_key([](void*) { calls.fetch_add(1); });
    return key ? *key : os::ThreadExitKey{};
}

void set_value() {
    EXPECT_TRUE(os::set_thread_exit_value(foreign_key(), &calls));
}

TEST(ForeignThreadExit, ThreadsOfTheStandardLibraryAreServed) {
    const std::uint32_t before = calls.load();
    std::thread(set_value).join();
    EXPECT_EQ(calls.load(), before + 1);
}

TEST(ForeignThreadExit, ThreadsThatLeaveInTheMiddleAreServed) {
    const std::uint32_t before = calls.load();
    pthread_t thread{};
    const auto entry = [](void*) -> void* {
        set_value();
        ::pthread_exit(nullptr);
    };
    ASSERT_EQ(::pthread_create(&thread, nullptr, entry, nullptr), 0);
    ASSERT_EQ(::pthread_join(thread, nullptr), 0);
    EXPECT_EQ(calls.load(), before + 1);
}

// The value is set for the first time while the thread's own objects are destroyed.
TEST(ForeignThreadExit, AThreadLocalObjectMaySetTheValueAtItsEnd) {
    struct SetsAtTheEnd {
        bool is_used = false;
        ~SetsAtTheEnd() { set_value(); }
    };
    const std::uint32_t before = calls.load();
    std::thread([] {
        static thread_local SetsAtTheEnd object;
        object.is_used = true;
    }).join();
    EXPECT_EQ(calls.load(), before + 1);
}

// Beyond the C library's first keys, whose values it keeps in the thread itself.
TEST(ForeignThreadExit, ManyKeysOfTheProgramDoNotMatter) {
    const int outcome = run_in_child([] {
        for (int i = 0; i < 100; ++i) {
            pthread_key_t key{};
            if (::pthread_key_create(&key, nullptr) != 0) return 1;
        }
        const std::uint32_t before = calls.load();
        std::thread(set_value).join();
        return calls.load() == before + 1 ? 0 : 2;
    });
    EXPECT_EQ(outcome, 0);
}

TEST(ForeignThreadExit, AFullTableSaysSo) {
    const int outcome = run_in_child([] {
        const auto hook = [](void*) {};
        for (unsigned i = 0; i < os::kMaxThreadExitKeys; ++i) {
            const auto key = os::make_thread_exit_key(hook);
            if (!key) return key.status() == Status::capacity_exhausted ? 0 : 1;
        }
        return os::make_thread_exit_key(hook).status() == Status::capacity_exhausted ? 0 : 2;
    });
    EXPECT_EQ(outcome, 0);
}

// The thread that forks goes on in the child with its value, and only that thread does.
TEST(ForeignThreadExit, AChildKeepsTheValueOfTheThreadThatForked) {
    set_value();
    const int outcome = run_in_child([] { return os::thread_exit_value(foreign_key()) == &calls ? 0 : 1; });
    EXPECT_EQ(outcome, 0);
    EXPECT_TRUE(os::set_thread_exit_value(foreign_key(), nullptr));
}

}  // namespace
