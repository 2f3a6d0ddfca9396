// Usage: profiled <what>: a program that knows nothing of the library, and allocates in functions with
// external names that a profile is to show.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {

[[gnu::noinline]] void* keep_here(std::size_t size) {
    void* volatile block = std::malloc(size);
    return block;
}
[[gnu::noinline]] void* drop_here(std::size_t size) {
    void* volatile block = std::malloc(size);
    return block;
}
[[gnu::noinline]] void* grow_here(void* old, std::size_t size) {
    void* volatile block = std::realloc(old, size);
    return block;
}
[[gnu::noinline]] int outer_function(int (*what)()) {
    const int result = what();
    __asm__ volatile("");
    return result;
}

}  // extern "C"

namespace {

void* (*volatile call_keep)(std::size_t) = keep_here;
void* (*volatile call_drop)(std::size_t) = drop_here;
void* (*volatile call_grow)(void*, std::size_t) = grow_here;

constexpr std::size_t kMiB = std::size_t{1} << 20;

// 64 MiB stay, in small blocks and in large ones; 64 MiB go.
int keep_and_drop() {
    for (std::size_t bytes = 0; bytes < 32 * kMiB; bytes += 64) {
        if (call_keep(64) == nullptr) return 1;
        std::free(call_drop(100));
    }
    for (std::size_t bytes = 0; bytes < 32 * kMiB; bytes += 4 * kMiB) {
        if (call_keep(4 * kMiB) == nullptr) return 1;
        std::free(call_drop(4 * kMiB));
    }
    return 0;
}

bool holds(const void* block, std::size_t size, unsigned char value) {
    const auto* const bytes = static_cast<const unsigned char*>(block);
    for (std::size_t at = 0; at < size; ++at) {
        if (bytes[at] != value) return false;
    }
    return true;
}

// Blocks of all kinds, changed in all ways, with their contents looked at.
int churn(unsigned seed) {
    struct Held {
        void* block = nullptr;
        std::size_t size = 0;
        unsigned char value = 0;
    };
    std::vector<Held> all(200);
    for (unsigned step = 0; step < 30'000; ++step) {
        seed = seed * 1664525 + 1013904223;
        Held& held = all[seed >> 8 & 127];
        if (!holds(held.block, held.size, held.value)) return 1;
        const std::size_t size = seed >> 20 & 7 ? seed >> 16 & 2047 : seed >> 12 & 262143;
        switch (seed >> 28 & 3) {
            case 0:
                std::free(held.block);
                held = {std::calloc(1, size), size, 0};
                if (!holds(held.block, size, 0)) return 2;
                break;
            case 1:
                std::free(held.block);
                held = {nullptr, 0, 0};
                if (::posix_memalign(&held.block, 64, size) != 0) return 3;
                break;
            default:
                if (size == 0) continue;
                held.block = call_grow(held.block, size);
                if (held.block == nullptr) return 4;
                if (!holds(held.block, held.size < size ? held.size : size, held.value)) return 5;
        }
        held.size = size;
        if (::malloc_usable_size(held.block) < size) return 6;
        held.value = static_cast<unsigned char>(step);
        if (held.block != nullptr) std::memset(held.block, held.value, size);
    }
    for (const Held& held : all)
        std::free(held.block);
    return 0;
}

int threads_and_forks() {
    int results[4] = {};
    std::vector<std::thread> threads;
    for (unsigned number = 0; number < 4; ++number)
        threads.emplace_back([&results, number] { results[number] = churn(number); });
    int failures = 0;
    for (unsigned count = 0; count < 10; ++count) {
        const pid_t child = ::fork();
        if (child == 0) ::_exit(churn(100 + count));
        int status = 0;
        ::waitpid(child, &status, 0);
        failures += status != 0;
    }
    for (std::thread& thread : threads)
        thread.join();
    for (const int result : results)
        failures += result != 0;
    return failures;
}

}  // namespace

int main(int count, char** words) {
    if (count < 2) return 2;
    const bool is_fine = std::strcmp(words[1], "fine") == 0;
    const int result = outer_function(is_fine ? threads_and_forks : keep_and_drop);
    if (is_fine) std::puts(result == 0 ? "intact" : "broken");
    return result;
}
