#include <ouro/os/stack_trace.hpp>
#include <ouro/os/symbolize.hpp>

#include <array>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace symbolize_sample {

struct Stack {
    std::array<void*, 64> frames{};
    std::size_t count = 0;
};

[[gnu::noinline]] void capture_here(Stack& walked, Stack& unwound) {
    walked.count = ouro::os::capture_stack(walked.frames);
    unwound.count = ouro::os::unwind_stack(unwound.frames);
    asm volatile("" ::: "memory");
}

[[gnu::noinline]] void outer_function(Stack& walked, Stack& unwound) {
    capture_here(walked, unwound);
    asm volatile("" ::: "memory");
}

}  // namespace symbolize_sample

namespace {

using symbolize_sample::Stack;

std::string function_at(const void* return_address) {
    return ouro::os::describe_address(static_cast<const char*>(return_address) - 1).function;
}

TEST(Symbolize, NamesTheFunctionsOnTheStack) {
    Stack walked;
    Stack unwound;
    symbolize_sample::outer_function(walked, unwound);
    ASSERT_GT(walked.count, 3U);
    ASSERT_GT(unwound.count, 3U);
    for (const Stack& stack : {walked, unwound}) {
        EXPECT_EQ(function_at(stack.frames[0]),
                  "symbolize_sample::capture_here(symbolize_sample::Stack&, symbolize_sample::Stack&)");
        EXPECT_EQ(function_at(stack.frames[1]),
                  "symbolize_sample::outer_function(symbolize_sample::Stack&, symbolize_sample::Stack&)");
    }
}

TEST(Symbolize, NamesTheModule) {
    const auto location =
        ouro::os::describe_address(reinterpret_cast<const void*>(&symbolize_sample::outer_function));
    EXPECT_NE(std::string(location.module).find("symbolize_test"), std::string::npos);
    EXPECT_GT(location.module_offset, 0U);
    const auto library = ouro::os::describe_address(reinterpret_cast<const void*>(&::getpagesize));
    EXPECT_NE(std::string(library.module).find("libc"), std::string::npos);
}

TEST(Symbolize, AnAddressOfNothingHasNoName) {
    const auto location = ouro::os::describe_address(reinterpret_cast<const void*>(16));
    EXPECT_STREQ(location.function, "");
    EXPECT_STREQ(location.module, "");
    EXPECT_EQ(location.line, 0U);
}

}  // namespace
