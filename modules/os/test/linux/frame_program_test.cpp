// Programs of unwind tables, byte by byte.
#include "linux/x86/frame_program.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace {

namespace os = ouro::os;
using Numbers = std::vector<int>;
using os::FrameEnd;
using os::FrameKind;
using os::FrameRule;

constexpr os::ProgramUnits kUnits{.code = 1, .data = -8};
constexpr std::uint64_t kStart = 1000;

// How compilers begin: the end of the frame is rsp + 8, the return address the word below it.
const Numbers kUsual{0x0C, 7, 8, 0x90, 1};

os::TableReader reader_of(const std::vector<std::byte>& bytes) {
    return {bytes, 0};
}

std::vector<std::byte> bytes_of(const Numbers& numbers) {
    std::vector<std::byte> bytes;
    for (const int number : numbers)
        bytes.push_back(static_cast<std::byte>(number));
    return bytes;
}

// The rule so many bytes after the function's start.
FrameRule rule_after(std::uint64_t distance, const Numbers& program) {
    os::FrameRow row;
    const auto common = bytes_of(kUsual);
    EXPECT_TRUE(run_frame_program(reader_of(common), kUnits, 0, ~std::uint64_t{0}, row));
    const auto own = bytes_of(program);
    if (!run_frame_program(reader_of(own), kUnits, kStart, kStart + distance, row))
        return {.kind = FrameKind::unsupported};
    return rule_of(row);
}

constexpr FrameRule from_stack(std::uint16_t words, std::uint8_t saved = 0) {
    return {.kind = FrameKind::called, .end = FrameEnd::from_stack, .offset = words, .saved_frame = saved};
}
constexpr FrameRule from_frame(std::uint16_t words, std::uint8_t saved = 0) {
    return {.kind = FrameKind::called, .end = FrameEnd::from_frame, .offset = words, .saved_frame = saved};
}
constexpr FrameRule kUnsupported{.kind = FrameKind::unsupported};

TEST(FrameProgram, HoldsFromEachAdvanceOn) {
    // push rbp; mov rbp, rsp; ...; pop: as with frame pointers.
    const Numbers program{0x41, 0x0E, 16, 0x86, 2, 0x43, 0x0D, 6, 0x02, 200, 0x0C, 7, 8, 0xC6};
    EXPECT_EQ(rule_after(0, program), from_stack(1));
    EXPECT_EQ(rule_after(1, program), from_stack(2, 2));
    EXPECT_EQ(rule_after(3, program), from_stack(2, 2));
    EXPECT_EQ(rule_after(4, program), from_frame(2, 2));
    EXPECT_EQ(rule_after(203, program), from_frame(2, 2));
    EXPECT_EQ(rule_after(204, program), from_stack(1));
}

TEST(FrameProgram, AdvancesByNumbersOfAllSizes) {
    EXPECT_EQ(rule_after(0x1234, {0x03, 0x35, 0x12, 0x0E, 24}), from_stack(1));
    EXPECT_EQ(rule_after(0x1235, {0x03, 0x35, 0x12, 0x0E, 24}), from_stack(3));
    EXPECT_EQ(rule_after(0x12344, {0x04, 0x45, 0x23, 0x01, 0x00, 0x0E, 24}), from_stack(1));
    EXPECT_EQ(rule_after(0x12345, {0x04, 0x45, 0x23, 0x01, 0x00, 0x0E, 24}), from_stack(3));
}

TEST(FrameProgram, ComesBackToWhatItRemembered) {
    const Numbers program{0x0E, 16, 0x86, 2, 0x0A, 0x42, 0x0C, 7, 8, 0xC6, 0x42, 0x0B};
    EXPECT_EQ(rule_after(1, program), from_stack(2, 2));
    EXPECT_EQ(rule_after(2, program), from_stack(1));
    EXPECT_EQ(rule_after(4, program), from_stack(2, 2));
    EXPECT_EQ(rule_after(0, {0x0B}), kUnsupported);
    EXPECT_EQ(rule_after(0, {0x0A, 0x0A, 0x0A, 0x0A, 0x0A, 0x0A, 0x0A, 0x0A}), from_stack(1));
    EXPECT_EQ(rule_after(0, {0x0A, 0x0A, 0x0A, 0x0A, 0x0A, 0x0A, 0x0A, 0x0A, 0x0A}), kUnsupported);
}

TEST(FrameProgram, KnowsTheLongFormsToo) {
    EXPECT_EQ(rule_after(0, {0x0E, 0x90, 0x01, 0x05, 6, 3}), from_stack(18, 3));
    EXPECT_EQ(rule_after(0, {0x0E, 0x90, 0x01, 0x11, 6, 4}), from_stack(18, 4));
    // In units of the data: minus eight.
    EXPECT_EQ(rule_after(0, {0x12, 6, 0x7E}), from_frame(2));
    EXPECT_EQ(rule_after(0, {0x13, 0x7D}), from_stack(3));
    EXPECT_EQ(rule_after(0, {0x86, 2, 0x06, 6}), from_stack(1));
    EXPECT_EQ(rule_after(0, {0x86, 2, 0x08, 6}), from_stack(1));
    EXPECT_EQ(rule_after(0, {0x86, 2, 0x07, 6}), from_stack(1));
    EXPECT_EQ(rule_after(0, {0x2E, 16, 0x00, 0x00}), from_stack(1));
}

TEST(FrameProgram, EndsWhereTheReturnAddressIsUndefined) {
    EXPECT_EQ(rule_after(0, {0x07, 16}).kind, FrameKind::outermost);
}

TEST(FrameProgram, ReadsOverWhatOtherRegistersDo) {
    EXPECT_EQ(rule_after(
                  0, {0x83, 3, 0x09, 12, 13, 0x14, 3, 2, 0x15, 3, 2, 0x10, 3, 2, 0x76, 0, 0x16, 12, 1, 0x50}),
              from_stack(1));
}

TEST(FrameProgram, FindsTheEndOfAlignedFrames) {
    // The end is the word at rbp - 8, the caller's rbp the one at rbp.
    EXPECT_EQ(rule_after(0, {0x10, 6, 2, 0x76, 0, 0x0F, 3, 0x76, 0x78, 0x06}),
              (FrameRule{.kind = FrameKind::called, .end = FrameEnd::saved_in_frame, .offset = 1}));
    // Either without the other.
    EXPECT_EQ(rule_after(0, {0x0F, 3, 0x76, 0x78, 0x06}), kUnsupported);
    EXPECT_EQ(rule_after(0, {0x10, 6, 2, 0x76, 0}), kUnsupported);
    // Above it, at another register, not the word there, or something after it.
    EXPECT_EQ(rule_after(0, {0x10, 6, 2, 0x76, 0, 0x0F, 3, 0x76, 0x08, 0x06}), kUnsupported);
    EXPECT_EQ(rule_after(0, {0x10, 6, 2, 0x76, 0, 0x0F, 3, 0x77, 0x78, 0x06}), kUnsupported);
    EXPECT_EQ(rule_after(0, {0x10, 6, 2, 0x76, 0, 0x0F, 2, 0x76, 0x78}), kUnsupported);
    EXPECT_EQ(rule_after(0, {0x10, 6, 2, 0x76, 0, 0x0F, 4, 0x76, 0x78, 0x06, 0x96}), kUnsupported);
    // Back to the usual.
    EXPECT_EQ(rule_after(0, {0x10, 6, 2, 0x76, 0, 0x0F, 3, 0x76, 0x78, 0x06, 0xC6, 0x0C, 7, 8}),
              from_stack(1));
}

TEST(FrameProgram, RefusesWhatNoRuleHolds) {
    for (const Numbers& program : std::vector<Numbers>{
             {0x0D, 3},                       // from another register
             {0x0E, 12},                      // not in words
             {0x0E, 0},                       // no room for the return address
             {0x0E, 0x80, 0x80, 0x80, 0x01},  // too far
             {0x13, 1},                       // inwards
             {0x90, 2},                       // the return address elsewhere
             {0x09, 16, 3},                   // or in a register
             {0x08, 16},                      // or nowhere
             {0x86, 0x80, 0x01},              // rbp too far
             {0x11, 6, 0x7F},                 // above the end
             {0x14, 6, 2},                    // as a value
             {0x09, 6, 3},                    // in a register
             {0x87, 2},                       // another stack pointer
             {0x2D},                          // unknown
             {0x01, 0, 0, 0, 0, 0, 0, 0, 0},  // to an absolute address
             {0x0E},
             {0x0F, 5, 0x76},
             {0x04, 1}  // cut
         })
        EXPECT_EQ(rule_after(0, program), kUnsupported) << testing::PrintToString(program);
}

TEST(FrameRule, IsTheSameOutOfItsBits) {
    for (const FrameRule rule :
         {from_stack(1), from_frame(FrameRule::kMostOffset, FrameRule::kMostSaved), kUnsupported,
          FrameRule{
              .kind = FrameKind::called, .end = FrameEnd::saved_in_frame, .offset = 3, .saved_frame = 1}}) {
        EXPECT_EQ(FrameRule::from_bits(rule.to_bits()), rule);
        EXPECT_NE(rule.to_bits(), 0U);
        EXPECT_LT(rule.to_bits(), std::uint64_t{1} << FrameRule::kBits);
    }
}

}  // namespace
