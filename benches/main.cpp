#include "harness/machine.hpp"
#include "harness/report.hpp"
#include "harness/session.hpp"
#include "harness/static_tls.hpp"
#include "harness/suite.hpp"

#include <ouro/os/thread.hpp>

#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>

#include <CLI/CLI.hpp>

namespace {

using namespace ouro::bench;

struct Arguments {
    std::vector<std::string> suites;
    std::string json_file;
    std::string peers_folder;
    std::string only;
    unsigned rounds = 0;
    bool list = false;
    bool quick = false;
};

void declare(CLI::App& app, Arguments& arguments) {
    app.add_option("suite", arguments.suites, "the suites to run; all of them by default");
    app.add_option("--json", arguments.json_file, "also write the results to this file")->type_name("FILE");
    app.add_option("--peers", arguments.peers_folder, "where the libraries to compare with are")
        ->type_name("DIR")
        ->check(CLI::ExistingDirectory);
    app.add_option("--only", arguments.only, "only the cases whose names contain this")->type_name("TEXT");
    app.add_option("--rounds", arguments.rounds, "measured rounds of each case")
        ->type_name("N")
        ->check(CLI::Range(1, 10'000));
    app.add_flag("--list", arguments.list, "name the suites and stop");
    app.add_flag("--quick", arguments.quick, "cut sizes and times, to see that everything runs");
}

void print(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
}

void list_suites() {
    for (const Suite& suite : all_suites())
        print(std::string(suite.name) + "  " + std::string(suite.about) + "\n");
}

// Opened before anything is measured: a wrong name must not cost a long run.
std::ofstream open_results(const std::string& name) {
    std::ofstream file(name);
    if (!file)
        throw std::runtime_error("cannot write '" + name + "'; give --json a file in a folder that is there");
    return file;
}

void run_suites(const Arguments& arguments) {
    const std::vector<Suite> suites = find_suites(arguments.suites);
    std::ofstream json;
    if (!arguments.json_file.empty()) json = open_results(arguments.json_file);
    const Machine machine = describe_machine(arguments.quick);
    print(table_machine(machine));

    Progress progress;
    Session session({arguments.rounds, arguments.quick, PeerFolder(arguments.peers_folder), arguments.only},
                    progress, [](const Row& row) { print(table_row(row)); });
    for (const Suite& suite : suites) {
        session.begin_suite(std::string(suite.name));
        print(table_heading(std::string(suite.name), std::string(suite.about)));
        suite.run(session);
    }
    if (session.rows().empty())
        throw std::invalid_argument("no case has '" + arguments.only +
                                    "' in its name; names are in the table");
    print(table_summary(session.rows()));
    if (!json.is_open()) return;
    json << json_report(machine, session.rows()) << std::flush;
    if (!json) throw std::runtime_error("writing '" + arguments.json_file + "' failed; is the disk full?");
}

}  // namespace

int main(int argument_count, char** argument_values) {
    make_room_for_loaded_libraries(argument_values);
    CLI::App app("Measures Ouroboros beside its peers and beside what the machine can do at best.",
                 "ouro-bench");
    Arguments arguments;
    declare(app, arguments);
    try {
        app.parse(argument_count, argument_values);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    try {
        if (arguments.list)
            list_suites();
        else
            run_suites(arguments);
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "ouro-bench: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "ouro-bench: %s\n", error.what());
        return 1;
    }
    return 0;
}
