// Usage: churn <rounds>: a program that knows nothing of the library. Thousands of short threads allocate,
// hand each other blocks and free what others allocated; in between the process is copied. Every block is
// stamped; the memory that the process holds at the end of each half is printed.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

struct Block {
    std::size_t size;
    std::uint64_t stamp;
};

// Where threads leave blocks for others.
std::array<std::atomic<Block*>, 512> g_exchange{};
std::atomic<bool> g_is_broken{false};

Block* make(std::uint64_t number) {
    const std::size_t size = sizeof(Block) + number * 2654435761U % (number % 64 == 0 ? 100'000 : 700);
    auto* const block = static_cast<Block*>(std::malloc(size));
    if (block == nullptr) std::abort();
    std::memset(block, static_cast<int>(number % 256), size);
    *block = {size, number};
    return block;
}

void check_and_free(Block* block) {
    if (block == nullptr) return;
    const auto* const bytes = reinterpret_cast<const unsigned char*>(block);
    for (std::size_t at = sizeof(Block); at < block->size; ++at)
        if (bytes[at] != block->stamp % 256) g_is_broken = true;
    std::free(block);
}

void work(std::uint64_t seed) {
    for (std::uint64_t step = 0; step < 200; ++step) {
        const std::uint64_t number = seed * 1000 + step;
        check_and_free(g_exchange[number * 40'503 % g_exchange.size()].exchange(make(number)));
    }
}

void run_threads(std::uint64_t first, std::uint64_t count) {
    constexpr std::uint64_t kAtOnce = 4;
    for (std::uint64_t round = 0; round < count; round += kAtOnce) {
        std::vector<std::thread> threads;
        for (std::uint64_t thread = 0; thread < kAtOnce; ++thread)
            threads.emplace_back(work, first + round + thread);
        for (std::thread& thread : threads)
            thread.join();
    }
}

// Copies the process while threads are at work; true when the child could go on.
bool fork_in_the_middle(std::uint64_t number) {
    std::thread sibling(run_threads, number, 40);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        run_threads(number + 500, 8);
        _exit(g_is_broken ? 1 : 0);
    }
    sibling.join();
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

long resident_pages() {
    long total = 0;
    long resident = 0;
    FILE* const file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr || std::fscanf(file, "%ld %ld", &total, &resident) != 2) std::abort();
    std::fclose(file);
    return resident;
}

}  // namespace

int main(int count, char** arguments) {
    const auto rounds = static_cast<std::uint64_t>(count > 1 ? std::atoll(arguments[1]) : 1000);
    run_threads(1, rounds);
    const long before = resident_pages();
    for (std::uint64_t round = 0; round < 10; ++round)
        if (!fork_in_the_middle(10'000 + 1000 * round)) g_is_broken = true;
    run_threads(100'000, rounds);
    const long after = resident_pages();
    for (auto& place : g_exchange)
        check_and_free(place.exchange(nullptr));
    std::printf("%s %ld %ld\n", g_is_broken ? "broken" : "intact", before, after);
    return g_is_broken ? 1 : 0;
}
