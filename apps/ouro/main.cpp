#include "doctor.hpp"
#include "dump_command.hpp"
#include "report_command.hpp"
#include "streams_command.hpp"

#include <ouro/os/terminal.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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

constexpr std::array kSortings{ouro::SiteSorting::live, ouro::SiteSorting::allocated,
                               ouro::SiteSorting::temporary, ouro::SiteSorting::growth,
                               ouro::SiteSorting::peak};

std::optional<ouro::SiteSorting> find_sorting(const std::string& name) {
    const auto is_it = [&](ouro::SiteSorting sorting) { return name == ouro::site_sorting_name(sorting); };
    const auto found = std::find_if(kSortings.begin(), kSortings.end(), is_it);
    return found == kSortings.end() ? std::nullopt : std::optional(*found);
}

std::string sorting_names() {
    std::string names;
    for (const ouro::SiteSorting sorting : kSortings)
        names.append(names.empty() ? "" : ", ").append(ouro::site_sorting_name(sorting));
    return names;
}

// Empty when it is one, otherwise what is wrong.
std::string complaint_about_sorting(const std::string& name) {
    return find_sorting(name) ? "" : "'" + name + "' is none of " + sorting_names();
}

void add_report(CLI::App& program, int& exit_code) {
    CLI::App* report = program.add_subcommand(
        "report", "Tell how a program uses its memory: tags, budgets, sites, pressure, events");
    auto request = std::make_shared<ouro::ReportRequest>();
    request->style.has_unicode = ouro::terminal_has_unicode();
    request->clears_screen = ouro::os::output_is_terminal();
    report->add_option("target", request->target, "The number of a running process, or a recording's file")
        ->required();
    report->add_flag("--json", request->as_json, "Print one JSON object instead of text");
    report
        ->add_option("--top", request->style.top, "How many sites, events, handler calls and blocks to show")
        ->check(CLI::Range(std::size_t{1}, std::size_t{100'000}))
        ->capture_default_str();
    report->add_flag("--full", request->style.is_full,
                     "All calls of each stack, with whole names; otherwise five of each");
    report
        ->add_option_function<std::string>(
            "--by",
            [request](const std::string& name) {
                request->sorting = find_sorting(name).value_or(request->sorting);
            },
            "What sites are sorted by, in bytes: " + sorting_names())
        ->check(CLI::Validator(complaint_about_sorting, ""));
    report->add_option("--tag", request->tag, "Only this tag and those below it");
    report
        ->add_option("--records", request->record_set,
                     "Which, of a process that keeps several: from 1; the fullest by default")
        ->check(CLI::PositiveNumber);
    CLI::Option* watch = report->add_flag("--watch", request->is_watching, "Again and again, with rates");
    report->add_option("--interval", request->interval_seconds, "Seconds between two, with --watch")
        ->check(CLI::Range(0.01, 3600.0))
        ->capture_default_str()
        ->needs(watch);
    report->add_option("--count", request->most_reports, "How often, with --watch; otherwise until it ends")
        ->check(CLI::PositiveNumber)
        ->needs(watch);
    report->callback([request, &exit_code] { exit_code = ouro::run_report(*request, std::cout, std::cerr); });
}

void add_streams(CLI::App& program, int& exit_code) {
    CLI::App* streams = program.add_subcommand(
        "streams", "List the blocks of memory that a program owns: tables, streams, allocators");
    auto request = std::make_shared<ouro::StreamsRequest>();
    streams->add_option("target", request->target, "The number of a running process, or a recording's file");
    streams->add_flag("--json", request->as_json, "Print one JSON object instead of text");
    streams->callback([request, &exit_code] { exit_code = run_streams(*request, std::cout, std::cerr); });
}

void add_dump(CLI::App& program, int& exit_code) {
    CLI::App* dump = program.add_subcommand(
        "dump", "Show a world: its components, archetypes, columns, free slots, an entity with its fields");
    auto request = std::make_shared<ouro::DumpRequest>();
    dump->add_option("target", request->targets,
                     "A saved image, or the number of a running process; several images for --tick, or for "
                     "--svg to show what changes");
    dump->add_option("--segment", request->segment, "Which, when there are several with worlds");
    CLI::Option* entity =
        dump->add_option("--entity", request->entity,
                         "Shows this one with its fields, and nothing else: <slot>, <slot>:<generation>, or "
                         "a name that it has; with --against, what has changed of it");
    CLI::Option* tick =
        dump->add_option("--tick", request->tick,
                         "Shows the image of this tick, of several: by the world's own count, which a dump "
                         "begins with (World::tick, not the number that StateRing gives)");
    CLI::Option* json = dump->add_flag("--json", request->as_json, "Print one JSON object instead of text");
    CLI::Option* against =
        dump->add_option("--against", request->against, "An earlier image: tell what has changed since")
            ->excludes(json);
    CLI::Option* svg =
        dump->add_option("--svg", request->svg, "Draw archetypes and pages into this file, - for the output")
            ->excludes(json)
            ->excludes(against)
            ->excludes(tick)
            ->excludes(entity);
    dump->add_option("--samples", request->samples, "How often to look at a process, for a drawing")
        ->check(CLI::Range(1, 10'000))
        ->needs(svg);
    dump->add_option("--interval", request->interval_seconds, "Seconds between two looks")
        ->check(CLI::Range(0.0, 3600.0))
        ->capture_default_str()
        ->needs(svg);
    dump->callback([request, &exit_code] { exit_code = run_dump(*request, std::cout, std::cerr); });
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
    int exit_code = 0;
    add_doctor(program);
    add_report(program, exit_code);
    add_streams(program, exit_code);
    add_dump(program, exit_code);
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return program.exit(error) == 0 ? 0 : kWrongUsage;
    }
    if (!program.get_subcommands().empty()) return exit_code;
    std::cerr << program.help();
    return kWrongUsage;
}
