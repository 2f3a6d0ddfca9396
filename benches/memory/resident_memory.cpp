#include "memory/resident_memory.hpp"

#include "harness/must.hpp"

#include <cstdio>
#include <memory>

#include <sys/wait.h>
#include <unistd.h>

namespace ouro::bench {

std::uint64_t resident_bytes() {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/smaps_rollup", "r"),
                                                               &std::fclose);
    must(file != nullptr, "open smaps_rollup");
    char line[256];
    unsigned long long kibibytes = 0;
    while (std::fgets(line, sizeof(line), file.get()) != nullptr) {
        if (std::sscanf(line, "Rss: %llu kB", &kibibytes) == 1) return std::uint64_t{kibibytes} * 1024;
    }
    give_up("read smaps_rollup", "it has no line for the resident memory");
}

double in_child_process(const std::function<double()>& figure) {
    int ends[2];
    must(::pipe(ends) == 0, "pipe");
    const pid_t child = ::fork();
    must(child >= 0, "fork");
    if (child == 0) {
        // No way out of the child but this one: its exceptions and exit handlers belong to the parent.
        double result = 0;
        try {
            result = figure();
        } catch (...) {
            ::_exit(1);
        }
        const bool written = ::write(ends[1], &result, sizeof(result)) == sizeof(result);
        ::_exit(written ? 0 : 1);
    }
    ::close(ends[1]);
    double result = 0;
    const bool received = ::read(ends[0], &result, sizeof(result)) == sizeof(result);
    ::close(ends[0]);
    int status = 0;
    must(::waitpid(child, &status, 0) == child, "waitpid");
    if (!received || status != 0) give_up("measure in a child process", "it ended early");
    return result;
}

}  // namespace ouro::bench
