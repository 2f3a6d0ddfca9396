// Usage: faulty <what>: a program without the library that does one wrong thing with a block, or nothing
// wrong, for tests that preload it. The functions that reports are to name have external names.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <malloc.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {

// The result passes through memory so that the call is not the function's last instruction.
[[gnu::noinline]] unsigned char* allocate_here(std::size_t size) {
    void* volatile block = std::malloc(size);
    return static_cast<unsigned char*>(block);
}
[[gnu::noinline]] void free_here(void* block) {
    std::free(block);
    __asm__ volatile("");
}
[[gnu::noinline]] unsigned char* realloc_here(void* block, std::size_t size) {
    void* volatile moved = std::realloc(block, size);
    return static_cast<unsigned char*>(moved);
}
[[gnu::noinline]] int read_here(const volatile unsigned char* byte) {
    const int value = *byte;
    __asm__ volatile("");
    return value;
}
[[gnu::noinline]] void write_here(volatile unsigned char* byte) {
    *byte = 1;
    __asm__ volatile("");
}

}  // extern "C"

namespace {

// Through pointers that the compiler knows nothing about, so that it makes no copies under other names.
unsigned char* (*volatile call_allocate)(std::size_t) = allocate_here;
void (*volatile call_free)(void*) = free_here;
unsigned char* (*volatile call_realloc)(void*, std::size_t) = realloc_here;
int (*volatile call_read)(const volatile unsigned char*) = read_here;
void (*volatile call_write)(volatile unsigned char*) = write_here;

constexpr std::size_t kBytes = 64;

// The page that faults lies behind some blocks and in front of others: of several, one is right.
constexpr int kBlocks = 8;

int overflow() {
    for (int count = 0; count < kBlocks; ++count)
        call_write(call_allocate(kBytes) + kBytes);
    return 0;
}
int read_too_far() {
    int sum = 0;
    for (int count = 0; count < kBlocks; ++count)
        sum += call_read(call_allocate(kBytes) + kBytes);
    return sum == -1 ? 1 : 0;
}
int underflow() {
    for (int count = 0; count < kBlocks; ++count)
        call_write(call_allocate(kBytes) - 1);
    return 0;
}
// Not on the page that faults: the free finds it.
int overflow_by_a_byte() {
    unsigned char* const block = call_allocate(kBytes - 4);
    call_write(block + kBytes - 4);
    call_free(block);
    return 0;
}
int use_after_free() {
    unsigned char* const block = call_allocate(kBytes);
    call_free(block);
    return call_read(block + 3);
}
int write_after_free() {
    unsigned char* const block = call_allocate(kBytes);
    call_free(block);
    call_write(block);
    return 0;
}
int use_after_realloc() {
    unsigned char* const block = call_allocate(kBytes);
    return call_realloc(block, kBytes / 2) == nullptr ? 1 : call_read(block);
}
int double_free() {
    unsigned char* const block = call_allocate(kBytes);
    call_free(block);
    call_free(block);
    return 0;
}
int free_inside() {
    call_free(call_allocate(kBytes) + 16);
    return 0;
}
int in_a_thread() {
    std::thread(use_after_free).join();
    return 0;
}
int in_a_child() {
    const pid_t child = fork();
    if (child == 0) _exit(use_after_free());
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

void handle(int, siginfo_t*, void*) {
    constexpr char kText[] = "the program's own handler\n";
    if (write(STDERR_FILENO, kText, sizeof(kText) - 1) < 0) _exit(1);
    _exit(7);
}
void set_handler(void (*handler)(int, siginfo_t*, void*)) {
    // What a report calls may save all registers of a large processor, which takes kibibytes each time.
    static unsigned char stack[65536];
    stack_t alternate{};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof(stack);
    sigaltstack(&alternate, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, nullptr);
}
// Set by a program that runs already, and so after the library's own.
int with_handler() {
    set_handler(handle);
    return use_after_free();
}
sigjmp_buf g_recovery;
int recover() {
    set_handler([](int, siginfo_t*, void*) { siglongjmp(g_recovery, 1); });
    // Not on the stack, where a jump may leave it as it was.
    static int times = 0;
    for (; times < 3; ++times)
        if (sigsetjmp(g_recovery, 1) == 0) use_after_free();
    call_free(call_allocate(kBytes));
    return 7;
}

bool all_are(const unsigned char* bytes, std::size_t size, unsigned value) {
    for (std::size_t at = 0; at < size; ++at)
        if (bytes[at] != value % 256) return false;
    return true;
}

// More blocks than can be guarded at once, of all sizes, each through the whole family.
bool use_rightly(unsigned seed) {
    struct Block {
        unsigned char* bytes;
        std::size_t size;
    };
    std::vector<Block> blocks;
    bool is_fine = true;
    for (unsigned number = seed; number < seed + 3000; ++number) {
        const std::size_t size = 1 + number * 2654435761U % (number % 16 == 0 ? 60'000 : 900);
        auto* bytes = static_cast<unsigned char*>(std::calloc(size, 1));
        is_fine = is_fine && all_are(bytes, size, 0) && malloc_usable_size(bytes) >= size;
        std::memset(bytes, static_cast<int>(number % 256), size);
        bytes = static_cast<unsigned char*>(std::realloc(bytes, size * 2));
        is_fine = is_fine && all_are(bytes, size, number);
        std::memset(bytes, static_cast<int>(number % 256), size * 2);
        const std::size_t alignment = std::size_t{16} << number % 10;
        void* const aligned = std::aligned_alloc(alignment, size);
        is_fine = is_fine && reinterpret_cast<std::uintptr_t>(aligned) % alignment == 0;
        std::memset(aligned, 1, size);
        std::free(aligned);
        blocks.push_back({bytes, size * 2});
    }
    for (unsigned index = 0; index < blocks.size(); ++index) {
        is_fine = is_fine && all_are(blocks[index].bytes, blocks[index].size, seed + index);
        std::free(blocks[index].bytes);
    }
    return is_fine;
}
int fine() {
    bool is_fine = use_rightly(1);
    std::thread([&] { is_fine = use_rightly(5000) && is_fine; }).join();
    const pid_t child = fork();
    if (child == 0) _exit(use_rightly(9000) ? 0 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    std::printf("%s\n", is_fine && status == 0 ? "intact" : "broken");
    return 0;
}
int many() {
    for (int count = 0; count < 100'000; ++count)
        call_free(call_allocate(kBytes));
    return 0;
}

struct Action {
    const char* name;
    int (*run)();
};
constexpr Action kActions[] = {{"overflow", overflow},
                               {"read_too_far", read_too_far},
                               {"underflow", underflow},
                               {"overflow_by_a_byte", overflow_by_a_byte},
                               {"use_after_free", use_after_free},
                               {"write_after_free", write_after_free},
                               {"use_after_realloc", use_after_realloc},
                               {"double_free", double_free},
                               {"free_inside", free_inside},
                               {"in_a_thread", in_a_thread},
                               {"in_a_child", in_a_child},
                               {"with_handler", with_handler},
                               {"recover", recover},
                               {"sent", [] { return raise(SIGSEGV); }},
                               {"fine", fine},
                               {"many", many}};

}  // namespace

int main(int count, char** arguments) {
    for (const Action& action : kActions)
        if (count > 1 && std::strcmp(arguments[1], action.name) == 0) return action.run();
    return 64;
}
