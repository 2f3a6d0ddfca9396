#include "fresh_tags.hpp"

#include <ouro/observe/ledger.hpp>
#include <ouro/observe/recording.hpp>

#include <cstdarg>

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

int g_allowances = 0;

}  // namespace

// Stands before the C library's, to see who is allowed what.
extern "C" int prctl(int option, ...) noexcept {
    va_list arguments;
    va_start(arguments, option);
    unsigned long values[4];
    for (unsigned long& value : values)
        value = va_arg(arguments, unsigned long);
    va_end(arguments);
    if (option == PR_SET_PTRACER) ++g_allowances;
    return static_cast<int>(::syscall(SYS_prctl, option, values[0], values[1], values[2], values[3]));
}

namespace ouro {
namespace {

// What a program has told the system of its debuggers is its own affair.
TEST(AllowReports, HappensOnlyWhenAsked) {
    static_cast<void>(use_of(test::fresh_tag()));
    EXPECT_EQ(g_allowances, 0);
    const auto allowed = allow_reports();
    EXPECT_TRUE(allowed || allowed.status() == Status::not_supported);
    EXPECT_EQ(g_allowances, 1);
}

}  // namespace
}  // namespace ouro
