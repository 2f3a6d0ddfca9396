#include "report_model.hpp"

#include "report_parts.hpp"

#include <ouro/observe/detail/ledger_layout.hpp>
#include <ouro/os/clock.hpp>

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace ouro {
namespace {

// The first file of the list is the program's own.
std::string program_name(std::string_view mappings) {
    const std::size_t path = mappings.find('/');
    if (path == std::string_view::npos) return "unknown program";
    const std::string_view line = mappings.substr(path, mappings.find('\n', path) - path);
    std::array<char, 64> name{};
    const std::string_view last = line.substr(line.rfind('/') + 1);
    std::copy_n(last.begin(), std::min(last.size(), name.size() - 1), name.begin());
    return printable(name);
}

unsigned count_threads(const detail::Ledger& ledger) {
    const std::size_t shards = std::min<std::size_t>(load(ledger.used_shards), ledger.shards.size());
    unsigned threads = 0;
    for (std::size_t index = 0; index < shards; ++index)
        threads += load(ledger.shards[index].is_owned) != 0 ? 1U : 0U;
    return threads;
}

}  // namespace

std::string name_of_tag(const Report& report, std::uint64_t id) {
    const auto is_it = [id](const TagReport& tag) { return tag.id == id; };
    const auto found = std::find_if(report.tags.begin(), report.tags.end(), is_it);
    return found == report.tags.end() || id == 0 ? "untagged" : found->name;
}

Report make_report(const LoadedImage& loaded) {
    const detail::ObserveImage& image = loaded.copy.image();
    Report report;
    report.program = program_name(loaded.mappings);
    report.process_id = loaded.process_id;
    report.is_live = loaded.is_live;
    report.taken_ns = loaded.taken_ns;
    report.running_seconds = seconds_between(image.header.started_ns, loaded.taken_ns);
    report.threads = count_threads(image.ledger);
    report.record_bytes = loaded.used_bytes;
    report.record_set = loaded.record_set;
    report.record_sets = loaded.record_sets;
    report.tags = read_tags(image.ledger);
    if (!report.tags.empty()) report.live_bytes = report.tags.front().live_bytes;
    report.has_charges =
        std::any_of(report.tags.begin(), report.tags.end(), [](const TagReport& tag) { return tag.is_used; });
    read_events(image.events, report);
    read_pressure(image.pressure, report);
    read_profile(image.profile, report);
    read_timeline(image.timeline, report);
    // Only now: the others take the names from it.
    std::erase_if(report.tags, [](const TagReport& tag) { return tag.id != 0 && !tag.is_used; });
    return report;
}

Report make_report(const NoRecords& process) {
    Report report;
    report.has_records = false;
    report.program = program_name(process.mappings());
    report.process_id = process.process_id();
    report.is_live = true;
    report.taken_ns = os::monotonic_ns();
    report.record_sets = 0;
    report.record_set = 0;
    return report;
}

void add_rates(Report& report, const Report& before) {
    const double seconds = seconds_between(before.taken_ns, report.taken_ns);
    if (seconds <= 0) return;
    std::unordered_map<std::uint16_t, const TagReport*> known;
    for (const TagReport& tag : before.tags)
        known.emplace(tag.id, &tag);
    for (TagReport& tag : report.tags) {
        const auto found = known.find(tag.id);
        const TagReport earlier = found == known.end() ? TagReport{} : *found->second;
        const auto rate = [seconds](std::uint64_t now, std::uint64_t then) {
            return now > then ? static_cast<double>(now - then) / seconds : 0.0;
        };
        tag.allocations_per_second = rate(tag.allocations, earlier.allocations);
        tag.allocated_bytes_per_second = rate(tag.allocated_bytes, earlier.allocated_bytes);
    }
}

namespace {

std::string list_names(const Report& report) {
    std::string names;
    const auto add = [&names](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
    for (const TagReport& tag : report.tags) {
        add(tag.name);
    }
    for (const BlockTagReport& blocks : report.blocks.tags) {
        const auto is_it = [&blocks](const TagReport& tag) { return tag.name == blocks.tag; };
        if (std::none_of(report.tags.begin(), report.tags.end(), is_it)) add(blocks.tag);
    }
    return names.empty() ? "there is none so far" : "there are: " + names;
}

// The tag and those below it, as a tree of its own.
std::vector<TagReport> tree_below(const Report& report, std::vector<TagReport>::const_iterator top) {
    const unsigned depth = top->depth;
    const auto is_outside = [depth](const TagReport& tag) { return tag.depth <= depth; };
    std::vector<TagReport> kept(top, std::find_if(top + 1, report.tags.end(), is_outside));
    for (TagReport& tag : kept)
        tag.depth -= depth;
    return kept;
}

}  // namespace

void keep_tag(Report& report, const std::string& name) {
    const auto is_it = [&name](const TagReport& tag) { return tag.name == name; };
    const auto top = std::find_if(report.tags.begin(), report.tags.end(), is_it);
    const auto has_it = [&name](const BlockTagReport& blocks) { return blocks.tag == name; };
    if (top == report.tags.end() &&
        std::none_of(report.blocks.tags.begin(), report.blocks.tags.end(), has_it))
        throw ReportError("no tag is called '" + name + "'; " + list_names(report));
    report.is_of_one_tag = true;
    // A tag that only blocks have was charged nothing.
    report.tags = top == report.tags.end() ? std::vector<TagReport>{} : tree_below(report, top);
    if (!report.tags.empty() && report.tags.front().id == 0) return;
    const auto is_of_another = [&report, &name](const auto& entry) {
        return entry.tag != name &&
               std::none_of(report.tags.begin(), report.tags.end(),
                            [&entry](const TagReport& tag) { return tag.name == entry.tag; });
    };
    std::erase_if(report.blocks.tags, is_of_another);
    std::erase_if(report.blocks.list, is_of_another);
    report.blocks.committed_bytes = std::accumulate(
        report.blocks.tags.begin(), report.blocks.tags.end(), std::uint64_t{0},
        [](std::uint64_t sum, const BlockTagReport& blocks) { return sum + blocks.committed_bytes; });
    std::erase_if(report.events, is_of_another);
    std::erase_if(report.monitors, is_of_another);
    std::erase_if(report.handler_calls, is_of_another);
    if (report.profile) std::erase_if(report.profile->sites, is_of_another);
}

}  // namespace ouro
