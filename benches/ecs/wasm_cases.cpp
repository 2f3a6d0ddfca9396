// The same source, compiled for wasm32 and for the baseline of x86-64, each in a process of its own.
#include "ecs/ecs_case.hpp"
#include "ecs/ecs_suite.hpp"
#include "harness/command_output.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <unistd.h>

namespace ouro::bench {
namespace {

// As a shell takes it. What this program asks of the C library for its peers would leave node's threads
// without stacks.
std::string node_command() {
    const char* const named = std::getenv("OURO_NODE");
    std::string text = "env -u GLIBC_TUNABLES '";
    text += named != nullptr && *named != '\0' ? named : "node";
    text += '\'';
    return text;
}

// The program prints the time of an operation and a checksum.
Work probing(std::string program, std::string arguments) {
    return [program = std::move(program), arguments = std::move(arguments)](Round& round) {
        const std::string text = output_of(program + " " + arguments);
        double ns = 0;
        unsigned long long sum = 0;
        if (std::sscanf(text.c_str(), "%lf %llu", &ns, &sum) != 2)
            throw std::runtime_error("'" + program + " " + arguments + "' does not run");
        round.add_time(ns);
        round.check(sum);
    };
}

}  // namespace

void measure_wasm(Session& session) {
    const std::uint32_t entities = static_cast<std::uint32_t>(session.sized(100'000, 1'000));
    const std::string size = std::to_string(entities) + " " + std::to_string(session.sized(150, 1));
    const std::string node = node_command();
    const std::string wasm = node + " '" OURO_WASM_RUNNER "' '" OURO_ECS_WASM_PROBE "'";
    const std::string version = output_of(node + " --version 2>/dev/null");
    const auto measure = [&](const std::string& name, const std::string& which) {
        Case measured = session.measure("wasm: " + name + ", " + count_name(entities), kNanoseconds);
        measured.bar(ratio_at_most(1.8));
        if (version.empty()) return measured.unavailable("needs node: install it, or name it in OURO_NODE");
        if (::access(OURO_ECS_WASM_PROBE, R_OK) != 0)
            return measured.unavailable("type tools/setup test && tools/build wasm ouro_ecs_probe");
        measured.ours(probing(wasm, which + " " + size))
            .peer("x86-64", "same source, baseline", probing("'" OURO_ECS_PROBE "'", which + " " + size))
            .note("node " + version.substr(0, version.find('\n')))
            .operations(1)
            .rounds_at_most(5)
            .on_any_core()
            .run();
    };
    measure("pos += vel", "loop");
    measure("3 components, 10 archetypes", "kinds");
    measure("get at random", "get");
    measure("create one by one", "create");
    measure("add and remove", "change");
    measure("commit, 4 components", "commit");
}

}  // namespace ouro::bench
