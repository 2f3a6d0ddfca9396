#include <ouro/os/stack_trace.hpp>

#include <array>
#include <cstddef>

#include <gtest/gtest.h>

namespace {

std::array<void*, 16> captured_in_a_circle;
std::size_t count_in_a_circle = 0;

}  // namespace

extern "C" {
[[gnu::used]] void ouro_test_capture_in_a_circle(const void* first) {
    count_in_a_circle = ouro::os::capture_callers(captured_in_a_circle, first);
}
void ouro_test_circle(const void* first);
}

// A frame whose table says that it was called by itself, from the same place of the stack: its end is rbx,
// and the word below that is where the call in it returns to.
asm(R"(
    .text
    .globl ouro_test_circle
    .type ouro_test_circle, @function
ouro_test_circle:
    .cfi_startproc
    pushq %rbx
    subq $32, %rsp
    leaq 16(%rsp), %rbx
    leaq 1f(%rip), %rax
    movq %rax, 8(%rsp)
    .cfi_def_cfa %rbx, 0
    .cfi_offset %rip, -8
    .cfi_same_value %rbx
    call ouro_test_capture_in_a_circle
1:
    addq $32, %rsp
    popq %rbx
    ret
    .cfi_endproc
    .size ouro_test_circle, . - ouro_test_circle
)");

namespace {

TEST(StackTables, ThatLeadInACircleAreNotFollowed) {
    ouro_test_circle(&captured_in_a_circle);
    ASSERT_EQ(count_in_a_circle, 1U);
    EXPECT_EQ(captured_in_a_circle[0], &captured_in_a_circle);
    ouro_test_circle(nullptr);
    EXPECT_LT(count_in_a_circle, 4U);
}

}  // namespace
