#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ouro::os::testing_support {

// A child that hangs is ended by the alarm. Far more than any needs: a busy machine makes all of them slow.
constexpr unsigned kChildSeconds = 200;

// Runs the function in a child, where limits and filters can be set without harm to the other tests, and
// returns what it returned (0 to 255), or -1 when the child died.
template <class Function>
[[nodiscard]] int run_in_child(Function function) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(kChildSeconds);
        ::_exit(function());
    }
    EXPECT_GT(child, 0);
    int state = 0;
    EXPECT_EQ(::waitpid(child, &state, 0), child);
    return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

}  // namespace ouro::os::testing_support
