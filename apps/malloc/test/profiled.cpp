// Usage: profiled <what>: a program that knows nothing of the library, and allocates in functions with
// external names that a profile is to show.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <malloc.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {

[[gnu::noinline]] void* keep_here(std::size_t size) {
    void* volatile block = std::malloc(size);
    return block;
}
[[gnu::noinline]] void* keep_early(std::size_t size) {
    void* volatile block = std::malloc(size);
    return block;
}
[[gnu::noinline]] void* keep_last(std::size_t size) {
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
void* (*volatile call_keep_early)(std::size_t) = keep_early;
void* (*volatile call_keep_last)(std::size_t) = keep_last;
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

void keep_16_mib(void* (*volatile& keep)(std::size_t)) {
    for (std::size_t bytes = 0; bytes < 16 * kMiB; bytes += 64)
        keep(64);
}

// Says where it is, and goes on when it is told to.
bool wait_for_a_line(const char* word) {
    std::puts(word);
    std::fflush(stdout);
    int letter = 0;
    while ((letter = std::getchar()) != '\n') {
        if (letter == EOF) return false;
    }
    return true;
}

// Three times the same by two threads, which wait in between. The other thread was there before.
int keep_in_three_parts() {
    std::atomic<int> part = 0;
    std::atomic<int> parts_done = 0;
    std::thread other([&] {
        for (int seen = 0; seen < 3;) {
            if (part.load() == seen) continue;
            keep_16_mib(++seen == 1 ? call_keep_early : seen == 2 ? call_keep : call_keep_last);
            ++parts_done;
        }
    });
    const auto do_part = [&](void* (*volatile & keep)(std::size_t)) {
        ++part;
        keep_16_mib(keep);
        while (parts_done.load() != part.load()) {
        }
    };
    do_part(call_keep_early);
    const bool is_told_first = wait_for_a_line("early");
    do_part(call_keep);
    const bool is_told_last = wait_for_a_line("kept");
    do_part(call_keep_last);
    other.join();
    return is_told_first && is_told_last && wait_for_a_line("last") ? 0 : 1;
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

// The same while the process gets one signal after the other.
int under_signals() {
    std::atomic<bool> is_over = false;
    std::thread sender([&] {
        while (!is_over.load()) {
            ::kill(::getpid(), SIGUSR1);
            std::this_thread::sleep_for(std::chrono::microseconds(20));
        }
    });
    const int failures = threads_and_forks();
    is_over = true;
    sender.join();
    return failures;
}

using What = int (*)();

What what_is(const char* word) {
    if (std::strcmp(word, "fine") == 0) return threads_and_forks;
    if (std::strcmp(word, "signals") == 0) return under_signals;
    return std::strcmp(word, "parts") == 0 ? keep_in_three_parts : keep_and_drop;
}

}  // namespace

int main(int count, char** words) {
    if (count < 2) return 2;
    const What what = what_is(words[1]);
    const int result = outer_function(what);
    if (what == threads_and_forks || what == under_signals) std::puts(result == 0 ? "intact" : "broken");
    return result;
}
