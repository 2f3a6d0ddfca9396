#include "doctor.hpp"

#include <iostream>

#include <CLI/CLI.hpp>

namespace {

void add_doctor(CLI::App& program) {
    CLI::App* doctor =
        program.add_subcommand("doctor", "Tell what this machine offers, and what will be used of it");
    auto as_json = std::make_shared<bool>(false);
    doctor->add_flag("--json", *as_json, "Print one JSON object instead of text");
    doctor->callback([as_json] {
        const ouro::os::Capabilities report = ouro::os::query_capabilities();
        if (*as_json) {
            std::cout << ouro::doctor_json(report).dump(2) << '\n';
        } else {
            std::cout << ouro::doctor_text(report);
        }
    });
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App program("Ouroboros: memory and state for games and simulations", "ouro");
    program.set_version_flag("--version", OURO_VERSION);
    program.failure_message([](const CLI::App* app, const CLI::Error& error) {
        return std::string("ouro: ") + error.what() + "\nTry `" + app->get_name() + " --help`.\n";
    });
    add_doctor(program);
    CLI11_PARSE(program, argc, argv);
    if (!program.get_subcommands().empty()) return 0;
    std::cerr << program.help();
    return 2;
}
