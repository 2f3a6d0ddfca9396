// Instructions of a pair, counted by Valgrind's callgrind: a figure that no other load on the machine
// changes.
#include "harness/case.hpp"
#include "harness/command_output.hpp"
#include "observe/observe_suite.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace ouro::bench {
namespace {

constexpr Unit kInstructions{"instr", 1};

// The whole run of the probe, with its beginning and end.
double count_run(const std::string& which, unsigned long pairs) {
    const std::string text =
        output_of("valgrind --tool=callgrind --callgrind-out-file=/dev/null '" OURO_OBSERVE_PROBE "' " +
                  which + " " + std::to_string(pairs) + " 2>&1");
    const std::string key = "Collected :";
    const std::size_t at = text.find(key);
    if (at == std::string::npos) throw std::runtime_error("callgrind did not count: " + text);
    return std::strtod(text.c_str() + at + key.size(), nullptr);
}

// What two runs of different length have in common cancels out.
Work count_pair(std::string which) {
    return [which = std::move(which)](Round& round) {
        constexpr unsigned long kPairs = 20'000;
        round.add_figure((count_run(which, 2 * kPairs) - count_run(which, kPairs)) / kPairs);
    };
}

}  // namespace

void measure_instructions(Session& session) {
    const auto measure = [&](const std::string& name, const std::string& which) {
        return session.measure(name, kInstructions)
            .ours(count_pair(which))
            .peer("the heap alone", "this tree", count_pair("heap"))
            .operations(1)
            .rounds_at_most(1);
    };
    const bool has_valgrind = output_of("valgrind --version 2>/dev/null").starts_with("valgrind-");
    const std::string missing = "needs valgrind: sudo apt install valgrind";
    Case charged = measure("instructions: charged pair", "charged");
    Case out = measure("instructions: compiled out", "compiled-out").bar(difference_at_most(0));
    if (has_valgrind) {
        charged.run();
        out.run();
    } else {
        charged.unavailable(missing);
        out.unavailable(missing);
    }
}

}  // namespace ouro::bench
