#include "child_process.hpp"

#include <ouro/os/fault_injection.hpp>
#include <ouro/os/fork_hooks.hpp>
#include <ouro/os/process_barrier.hpp>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

namespace {

using ouro::Status;
using ouro::os::testing_support::run_in_child;
namespace os = ouro::os;

// What the hooks did, in order.
struct Journal {
    char text[32] = {};
    std::size_t length = 0;

    void write(char letter) {
        if (length + 1 < sizeof(text)) text[length++] = letter;
    }
    [[nodiscard]] bool says(const char* expected) const { return std::strcmp(text, expected) == 0; }
};

Journal journal;

os::ForkHooks letters(const char* prepare_parent_child) {
    const auto write = [](std::size_t index) {
        return index == 0   ? [](void* text) { journal.write(static_cast<const char*>(text)[0]); }
               : index == 1 ? [](void* text) { journal.write(static_cast<const char*>(text)[1]); }
                            : [](void* text) { journal.write(static_cast<const char*>(text)[2]); };
    };
    return {write(0), write(1), write(2), const_cast<char*>(prepare_parent_child)};
}

// Hooks stay for the life of a process, so each test has one of its own.
TEST(ForkHooks, RunInReverseBeforeAndInOrderAfter) {
    const int outcome = run_in_child([] {
        if (!os::add_fork_hooks(letters("abc"))) return 1;
        if (!os::add_fork_hooks(letters("xyz"))) return 2;
        const int inner = run_in_child([] { return journal.says("xacz") ? 0 : 1; });
        if (inner != 0) return 3;
        return journal.says("xaby") ? 0 : 4;
    });
    EXPECT_EQ(outcome, 0);
}

TEST(ForkHooks, AChildHasThemToo) {
    const int outcome = run_in_child([] {
        if (!os::add_fork_hooks(letters("abc"))) return 1;
        return run_in_child([] {
            if (!os::add_fork_hooks(letters("xyz"))) return 2;
            return run_in_child([] { return journal.says("acxacz") ? 0 : 3; });
        });
    });
    EXPECT_EQ(outcome, 0);
}

TEST(ForkHooks, EachMayBeLeftOutButNotAll) {
    EXPECT_EQ(os::add_fork_hooks({}).status(), Status::bad_argument);
    const int outcome = run_in_child([] {
        os::ForkHooks only_child = letters("abc");
        only_child.prepare = nullptr;
        only_child.parent = nullptr;
        if (!os::add_fork_hooks(only_child)) return 1;
        if (run_in_child([] { return journal.says("c") ? 0 : 1; }) != 0) return 2;
        return journal.says("") ? 0 : 3;
    });
    EXPECT_EQ(outcome, 0);
}

// One that is added while a fork is under way has prepared nothing and must undo nothing.
TEST(ForkHooks, AddedDuringAForkTheyWaitForTheNext) {
    const int outcome = run_in_child([] {
        os::ForkHooks adds_another = letters("abc");
        adds_another.prepare = [](void*) {
            journal.write('+');
            static bool is_added = false;
            if (!is_added && !os::add_fork_hooks(letters("xyz"))) journal.write('!');
            is_added = true;
        };
        if (!os::add_fork_hooks(adds_another)) return 1;
        if (run_in_child([] { return journal.says("+c") ? 0 : 1; }) != 0) return 2;
        if (!journal.says("+b")) return 3;
        return run_in_child([] { return journal.says("+bx+cz") ? 0 : 4; });
    });
    EXPECT_EQ(outcome, 0);
}

TEST(ForkHooks, AFullTableSaysSo) {
    const int outcome = run_in_child([] {
        // Each with a text of its own, for the same ones count once.
        static const char texts[os::kMaxForkHooks][4] = {"abc", "abc", "abc", "abc",
                                                         "abc", "abc", "abc", "abc"};
        for (const auto& text : texts) {
            if (!os::add_fork_hooks(letters(text))) return 1;
            if (!os::add_fork_hooks(letters(text))) return 1;
        }
        if (os::add_fork_hooks(letters("xyz")).status() != Status::capacity_exhausted) return 2;
        return run_in_child([] { return journal.says("aaaaaaaacccccccc") ? 0 : 3; });
    });
    EXPECT_EQ(outcome, 0);
}

// The thread that adds hooks for the first time does not exist in the child, however far it had come.
TEST(ForkHooks, AChildOfTheMomentWhenAnotherThreadAddsThemCanAddItsOwn) {
    for (int i = 0; i < 200; ++i) {
        const int outcome = run_in_child([] {
            std::atomic<bool> is_started{false};
            std::thread adder([&] {
                is_started.store(true);
                static_cast<void>(os::add_fork_hooks(letters("abc")));
            });
            while (!is_started.load()) {
            }
            const int inner = run_in_child(
                [] { return os::add_fork_hooks(letters("xyz")) ? run_in_child([] { return 0; }) : 1; });
            adder.join();
            return inner;
        });
        ASSERT_EQ(outcome, 0) << "in round " << i;
    }
}

// The kernel takes the registration over into the child, so that its first barrier is one system call too.
TEST(Fork, AChildHasBarriersWithoutRegisteringAgain) {
    if (!os::process_barrier_available()) GTEST_SKIP() << "needs process_barrier";
    const int outcome = run_in_child([] {
#if defined(OURO_FAULT_INJECTION)
        os::fault_injection::clear();
        if (!os::process_barrier()) return 1;
        return os::fault_injection::uses(os::OsCall::process_barrier) == 1 ? 0 : 2;
#else
        return os::process_barrier() ? 0 : 1;
#endif
    });
    EXPECT_EQ(outcome, 0);
}

}  // namespace
