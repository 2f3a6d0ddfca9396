#include <ouro/os/other_process.hpp>
#include <ouro/os/process_memory.hpp>
#include <ouro/os/stack_trace.hpp>
#include <ouro/os/symbolize.hpp>

#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

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

[[gnu::always_inline]] inline void capture_inlined(Stack& stack) {
    stack.count = ouro::os::unwind_stack(stack.frames);
    asm volatile("" ::: "memory");
}

constexpr unsigned kLineOfInlinedCall = __LINE__ + 2;
[[gnu::noinline]] void function_with_inlined_code(Stack& stack) {
    capture_inlined(stack);
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

// The symbol is the function's, so the line is as well.
TEST(Symbolize, TheLineIsOfTheFunctionAndNotOfWhatWasInlined) {
    Stack stack;
    symbolize_sample::function_with_inlined_code(stack);
    ASSERT_GT(stack.count, 1U);
    const auto location = ouro::os::describe_address(static_cast<const char*>(stack.frames[0]) - 1);
    EXPECT_EQ(std::string(location.function),
              "symbolize_sample::function_with_inlined_code(symbolize_sample::Stack&)");
    EXPECT_NE(std::string(location.file).find("symbolize_test.cpp"), std::string::npos);
    EXPECT_EQ(location.line, symbolize_sample::kLineOfInlinedCall);
}

TEST(Symbolize, AnAddressOfNothingHasNoName) {
    const auto location = ouro::os::describe_address(reinterpret_cast<const void*>(16));
    EXPECT_STREQ(location.function, "");
    EXPECT_STREQ(location.module, "");
    EXPECT_EQ(location.line, 0U);
}

std::string own_mappings() {
    std::string text;
    const auto add = [](std::string_view line, void* context) {
        static_cast<std::string*>(context)->append(line).append("\n");
        return true;
    };
    EXPECT_TRUE(ouro::os::visit_mapping_lines(ouro::os::process_id(), add, &text));
    return text;
}

std::uint64_t sample_address() {
    return reinterpret_cast<std::uintptr_t>(&symbolize_sample::outer_function);
}

TEST(MappedCode, NamesAddressesByTheListAlone) {
    const std::string mappings = own_mappings();
    ouro::os::MappedCode code(mappings);
    const auto location = code.describe(sample_address());
    EXPECT_EQ(std::string(location.function),
              "symbolize_sample::outer_function(symbolize_sample::Stack&, symbolize_sample::Stack&)");
    const auto known =
        ouro::os::describe_address(reinterpret_cast<const void*>(&symbolize_sample::outer_function));
    EXPECT_STREQ(location.module, known.module);
    EXPECT_EQ(location.module_offset, known.module_offset);
    EXPECT_EQ(code.describe(1).module[0], '\0');
}

// As when the program was built anew since: the file of that name has another number.
TEST(MappedCode, AFileThatChangedGivesNoNames) {
    std::string mappings = own_mappings();
    const std::string name = "symbolize_test\n";
    for (std::size_t at = 0; (at = mappings.find(name, at)) != std::string::npos; ++at) {
        const std::size_t start = mappings.rfind('/', mappings.find_first_of('\n', at));
        const std::size_t digit = mappings.find_last_of("0123456789", mappings.rfind(' ', start));
        mappings[digit] = mappings[digit] == '1' ? '2' : '1';
    }
    ouro::os::MappedCode code(mappings);
    const auto location = code.describe(sample_address());
    EXPECT_EQ(std::string(location.function), "");
    EXPECT_NE(std::string(location.module).find("symbolize_test"), std::string::npos);
    EXPECT_GT(location.module_offset, 0U);
}

// As when it was deleted: its name in the report is that of the copy that is at hand elsewhere.
TEST(MappedCode, AFileThatIsGoneKeepsItsName) {
    constexpr std::uint64_t kStart = 0x10000;
    const std::string mappings =
        "00010000-00020000 r-xp 00000000 00:00 7   /nowhere/the game (deleted)\n"
        "00030000-00040000 r-xp 00000000 00:00 8   /nowhere/(deleted) scenes\n";
    ouro::os::MappedCode code(mappings);
    const auto location = code.describe(kStart + 0x123);
    EXPECT_STREQ(location.module, "/nowhere/the game");
    EXPECT_EQ(location.module_offset, 0x123U);
    EXPECT_STREQ(code.describe(0x30000).module, "/nowhere/(deleted) scenes");
}

// A list may be long and name no file that is there: it is read once, whatever is asked.
TEST(MappedCode, ManyUnknownAddressesInALongList) {
    constexpr std::uint64_t kLines = 60'000;
    constexpr std::uint64_t kStep = 0x10000;
    const auto hex = [](std::uint64_t number) {
        char text[20];
        return std::string(text, std::to_chars(text, text + sizeof text, number, 16).ptr);
    };
    std::string mappings;
    for (std::uint64_t line = 1; line <= kLines; ++line)
        mappings += hex(line * kStep) + "-" + hex(line * kStep + 0x1000) + " r-xp 0 0:0 7 /gone/" +
                    std::to_string(line) + "\n";
    ouro::os::MappedCode code(mappings);
    for (std::uint64_t round = 0; round < 60'000; ++round) {
        const std::uint64_t line = 1 + round * 7'919 % kLines;
        const auto location = code.describe(line * kStep + 0x123);
        ASSERT_EQ(std::string(location.module), "/gone/" + std::to_string(line));
        ASSERT_EQ(location.module_offset, 0x123U);
        ASSERT_STREQ(code.describe(line * kStep + 0x1000).module, "");
    }
}

TEST(MappedCode, NonsenseIsNoHarm) {
    for (const std::string text :
         {"", "\n\n", "no line of a list", "-", "1-2", "0-ffffffffffffffff r--p 0 0:0 0",
          "5-1 r-xp 0 0:0 99999999999999999999 /x\n", "0-ff r-xp 0 0:0 1 /proc/self/exe"}) {
        ouro::os::MappedCode code(text);
        EXPECT_EQ(code.describe(sample_address()).function[0], '\0') << text;
    }
}

}  // namespace
