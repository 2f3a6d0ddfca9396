#include "memory/resident_memory.hpp"

#include "harness/must.hpp"

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

namespace ouro::bench {
namespace {

// Only ever set in a child process.
std::optional<std::uint64_t> weighed_from_bytes;

}  // namespace

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

bool is_weighing() noexcept {
    return weighed_from_bytes.has_value();
}

void weigh_from_here() {
    if (is_weighing()) weighed_from_bytes = resident_bytes();
}

void weigh_here(Round& round) {
    if (!is_weighing()) return;
    const std::uint64_t now = resident_bytes();
    round.use_memory(now > *weighed_from_bytes ? now - *weighed_from_bytes : 0);
}

std::uint64_t weigh(const Work& work) {
    return static_cast<std::uint64_t>(in_child_process([&] {
        weighed_from_bytes = resident_bytes();
        Round round(1);
        work(round);
        return static_cast<double>(round.memory_bytes().value_or(0));
    }));
}

Work MemoryBook::enter(const std::string& name, Work work) {
    const auto found = bytes.find(name);
    if (is_open) {
        if (found == bytes.end()) bytes.emplace(name, weigh(work));
        return work;
    }
    if (found == bytes.end() || found->second == 0) return work;
    return [work = std::move(work), held = found->second](Round& round) {
        work(round);
        round.use_memory(held);
    };
}

}  // namespace ouro::bench
