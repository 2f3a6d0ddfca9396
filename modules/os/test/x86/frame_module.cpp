// A shared library with one function, whose frame has the size that it was built with: two of them differ in
// nothing else, and lie at the same addresses when one is loaded after the other.
#define OURO_TEXT_OF(value) #value
#define OURO_TEXT(value) OURO_TEXT_OF(value)
#define OURO_BYTES OURO_TEXT(OURO_FRAME_BYTES)

// void ouro_test_call_through(void (*function)(void*), void* argument)
asm(".text\n"
    ".globl ouro_test_call_through\n"
    ".type ouro_test_call_through, @function\n"
    "ouro_test_call_through:\n"
    ".cfi_startproc\n"
    "subq $" OURO_BYTES
    ", %rsp\n"
    ".cfi_adjust_cfa_offset " OURO_BYTES
    "\n"
    "movq %rdi, %rax\n"
    "movq %rsi, %rdi\n"
    "call *%rax\n"
    "addq $" OURO_BYTES
    ", %rsp\n"
    ".cfi_adjust_cfa_offset -" OURO_BYTES
    "\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size ouro_test_call_through, . - ouro_test_call_through\n"
    ".section .note.GNU-stack, \"\", @progbits\n"
    ".text\n");
