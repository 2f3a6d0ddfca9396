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

constexpr int kWrongUsage = 2;

std::string known_commands(const CLI::App& program) {
    std::string names;
    for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
        names += (names.empty() ? "" : ", ") + command->get_name();
    return names;
}

// What is wrong, in words that name the argument.
std::string complaint(const CLI::App& program, const CLI::Error& error) {
    const std::vector<std::string> unexpected = program.remaining(true);
    if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError) || unexpected.empty())
        return error.what();
    const std::string& argument = unexpected.front();
    if (argument.starts_with('-')) return "unknown option '" + argument + "'";
    return (program.get_subcommands().empty() ? "unknown command '" : "unexpected argument '") + argument +
           "'";
}

std::string failure_text(const CLI::App* program, const CLI::Error& error) {
    std::string text = "ouro: " + complaint(*program, error) + "\n";
    const std::vector<CLI::App*> chosen = program->get_subcommands();
    if (!chosen.empty()) {
        const std::string help = chosen.front()->get_name() + " --help";
        return text + "Its options: ouro " + help + " (in the source tree: ./run " + help + ")\n";
    }
    return text + "The commands: " + known_commands(*program) +
           ". Their options: ouro --help (in the source tree: ./run -- --help)\n";
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App program("Ouroboros: memory and state for games and simulations", "ouro");
    program.set_version_flag("--version", OURO_VERSION);
    program.failure_message(failure_text);
    add_doctor(program);
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return program.exit(error) == 0 ? 0 : kWrongUsage;
    }
    if (!program.get_subcommands().empty()) return 0;
    std::cerr << program.help();
    return kWrongUsage;
}
