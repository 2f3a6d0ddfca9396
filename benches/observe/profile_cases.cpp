// What the profiler adds to a program that does little but allocate: one of ours, and one that knows nothing
// of it.
#include "harness/case.hpp"
#include "harness/must.hpp"
#include "memory/object_checks.hpp"
#include "observe/observe_suite.hpp"

#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/observe/charged_allocator.hpp>
#include <ouro/observe/default_tags.hpp>
#include <ouro/observe/profiler.hpp>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <unistd.h>

namespace ouro::bench {
namespace {

using Charged = ChargedAllocator<SmallObjectAllocator, true>;

// Random objects of some sizes are freed and allocated again, with the profiler at this mean or without it.
Work churn(Charged& memory, std::size_t mean_bytes) {
    return [&memory, mean_bytes](Round& round) {
        constexpr std::size_t kLive = 10'000;
        if (mean_bytes != 0)
            must(start_profiler({.mean_bytes = mean_bytes, .seed = 3}), "start the profiler");
        std::vector<MemoryBlock> blocks(kLive);
        Lottery lottery(5);
        for (MemoryBlock& block : blocks)
            block = must(memory.allocate(16 + lottery.below(240)), "allocate");
        round.time([&] {
            for (std::uint64_t done = 0; done < round.operations(); ++done) {
                MemoryBlock& block = blocks[lottery.below(kLive)];
                memory.deallocate(block);
                block = *memory.allocate(16 + lottery.below(240));
                stamp(block.data);
            }
        });
        for (const MemoryBlock block : blocks)
            memory.deallocate(block);
        if (mean_bytes != 0) stop_profiler();
        round.check(1);
    };
}

#ifndef OURO_MALLOC_LIBRARY
// Without the programs of the tree there is none.
#    define OURO_MALLOC_LIBRARY ""
#endif

// Makes and reads text: hundreds of thousands of small blocks.
std::string python_program(std::uint64_t rows) {
    return "import json\n"
           "rows = [{'id': i, 'name': 'creature %d' % i, 'at': [i, i * 2, i * 3]} for i in range(" +
           std::to_string(rows) + ")]\nfor _ in range(4): rows = json.loads(json.dumps(rows))\n";
}

// A run of Python on our malloc, with these words for it. Not one that is found by the path: that may be a
// script that starts dozens of processes first.
Work run_python(const std::string& words, const std::string& program) {
    // Python's own allocator would keep most of the blocks from malloc.
    const std::string command = "PYTHONMALLOC=malloc OUROBOROS_MALLOC='" + words +
                                "' LD_PRELOAD='" OURO_MALLOC_LIBRARY "' /usr/bin/python3 -c \"" + program +
                                "\"";
    return [command](Round& round) {
        round.time([&] {
            if (std::system(command.c_str()) != 0) throw std::runtime_error("cannot run: " + command);
        });
        round.check(1);
    };
}

void measure_python(Session& session) {
    const auto file =
        std::filesystem::temp_directory_path() / ("ouro-bench-" + std::to_string(::getpid()) + ".ouro");
    // So many that starting and ending Python weigh little.
    const std::string program = python_program(session.sized(80'000, 100));
    Case row = session.measure("profiler: python3 on our malloc", kMilliseconds)
                   .ours(run_python("profile=" + file.string(), program))
                   .peer("the profiler off", "this tree", run_python("purge=32M", program))
                   .bar(ratio_at_most(1.02))
                   .operations(1)
                   .rounds_at_most(11)
                   .median();
    if (std::string(OURO_MALLOC_LIBRARY).empty()) {
        row.unavailable("needs our malloc: configure with -DOURO_BUILD_APPS=ON");
    } else if (std::system("/usr/bin/python3 -c '' 2>/dev/null") != 0) {
        row.unavailable("needs python3: sudo apt install python3");
    } else {
        row.run();
    }
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
}

}  // namespace

void measure_profiler(Session& session) {
    auto heap = must(SmallObjectAllocator::create({.name = "benchmark"}), "make a heap");
    Charged memory(heap, default_tags().creatures);
    constexpr std::size_t kDefault = ProfilerOptions{}.mean_bytes;
    session.measure("profiler: churn, a sample each 512 KiB", kNanoseconds)
        .ours(churn(memory, kDefault))
        .peer("the profiler off", "this tree", churn(memory, 0))
        .bar(ratio_at_most(1.02))
        .median()
        .run();
    session.measure("profiler: churn, a sample each 16 KiB", kNanoseconds)
        .ours(churn(memory, std::size_t{16} << 10))
        .peer("the profiler off", "this tree", churn(memory, 0))
        .median()
        .run();
    measure_python(session);
}

}  // namespace ouro::bench
