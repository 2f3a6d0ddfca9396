// Usage: probe <what>: small programs without the library, for tests that preload it.
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <malloc.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

namespace {

long resident_bytes() {
    long total = 0;
    long resident = 0;
    FILE* const file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr || std::fscanf(file, "%ld %ld", &total, &resident) != 2) std::abort();
    std::fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

void sleep_ms(long ms) {
    const timespec time{ms / 1000, ms % 1000 * 1'000'000};
    nanosleep(&time, nullptr);
}

// Until there is no more, of each size; then it all goes back and there is some again.
int exhaust() {
    for (const std::size_t size : {std::size_t{64} << 20, std::size_t{1} << 20, std::size_t{3000}}) {
        std::vector<void*> blocks;
        blocks.reserve(1 << 20);
        for (int round = 0; round < 2; ++round) {
            errno = 0;
            while (void* const block = std::malloc(size)) {
                std::memset(block, 1, 100);
                blocks.push_back(block);
                errno = 0;
            }
            if (errno != ENOMEM) return 1;
            if (std::calloc(1, std::size_t{1} << 40) != nullptr || errno != ENOMEM) return 2;
            const std::size_t count = blocks.size();
            for (void* const block : blocks)
                std::free(block);
            blocks.clear();
            malloc_trim(0);
            std::printf("%zu bytes: %zu blocks\n", size, count);
            if (count == 0 && size < (std::size_t{64} << 20)) return 3;
        }
    }
    return 0;
}

std::vector<void*> fill(std::size_t bytes, std::size_t size) {
    std::vector<void*> blocks(bytes / size);
    for (void*& block : blocks) {
        block = std::malloc(size);
        std::memset(block, 1, size);
    }
    return blocks;
}

// Free memory below the threshold stays at first, and goes when somebody comes by later.
int fall_idle(bool comes_by) {
    std::vector<void*> blocks = fill(std::size_t{20} << 20, 1000);
    const long full = resident_bytes();
    for (void* const block : blocks)
        std::free(block);
    const long freed = resident_bytes();
    for (int times = 0; times < 20; ++times) {
        sleep_ms(100);
        if (comes_by) std::free(std::malloc(std::size_t{200} << 10));
    }
    std::printf("%ld %ld %ld\n", full, freed, resident_bytes());
    return 0;
}

// Free memory is of no use to a block with a mapping of its own: it goes before that comes, and as it grows.
int map_beside_free() {
    void* block = nullptr;
    for (const std::size_t size : {std::size_t{40} << 20, std::size_t{50} << 20}) {
        std::vector<void*> blocks = fill(std::size_t{20} << 20, 1000);
        const long full = resident_bytes();
        for (void* const filled : blocks)
            std::free(filled);
        const long freed = resident_bytes();
        block = std::realloc(block, size);
        std::printf("%ld %ld %ld\n", full, freed, resident_bytes());
    }
    std::free(block);
    return 0;
}

// Another thread keeps its cache and sleeps: a trim reaches it.
int trim_idle_thread() {
    volatile bool is_done = false;
    std::thread idle([&] {
        for (const std::size_t size : {16U, 64U, 256U, 512U, 1000U, 2000U, 4000U, 8000U, 16000U}) {
            // Several rounds: caches grow when they prove too small.
            for (int round = 0; round < 20; ++round)
                for (void* const block : fill(std::size_t{1} << 20, size))
                    std::free(block);
        }
        is_done = true;
        while (is_done)
            sleep_ms(10);
    });
    while (!is_done)
        sleep_ms(10);
    const std::size_t kept = mallinfo2().fsmblks;
    malloc_trim(0);
    std::printf("%zu %zu %zu\n", kept, mallinfo2().fsmblks, mallinfo2().keepcost);
    is_done = false;
    idle.join();
    return 0;
}

// Another thread takes all there is, frees it and sleeps: what it keeps is there for others before they are
// refused.
int take_what_another_keeps() {
    std::vector<void*> blocks;
    blocks.reserve(1 << 18);
    const auto take_all_and_free = [&] {
        while (void* const block = std::malloc(3000)) {
            std::memset(block, 1, 100);
            blocks.push_back(block);
        }
        const std::size_t count = blocks.size();
        for (void* const block : blocks)
            std::free(block);
        blocks.clear();
        return count;
    };
    std::size_t first = 0;
    std::atomic<bool> is_asleep = false;
    std::thread idle([&] {
        first = take_all_and_free();
        is_asleep = true;
        while (is_asleep)
            sleep_ms(10);
    });
    while (!is_asleep)
        sleep_ms(10);
    const std::size_t second = take_all_and_free();
    is_asleep = false;
    idle.join();
    std::printf("%zu %zu\n", first, second);
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    const char* const what = count > 1 ? arguments[1] : "";
    if (std::strcmp(what, "exhaust") == 0) return exhaust();
    if (std::strcmp(what, "visited") == 0) return fall_idle(true);
    if (std::strcmp(what, "asleep") == 0) return fall_idle(false);
    if (std::strcmp(what, "mapping") == 0) return map_beside_free();
    if (std::strcmp(what, "trim") == 0) return trim_idle_thread();
    if (std::strcmp(what, "kept") == 0) return take_what_another_keeps();
    if (std::strcmp(what, "signal") == 0) return raise(SIGUSR2);
    if (std::strcmp(what, "abandon") == 0) {
        // Ends without a word about what it still holds.
        return fill(10'000, 1000).empty() ? 1 : 0;
    }
    return 64;
}
