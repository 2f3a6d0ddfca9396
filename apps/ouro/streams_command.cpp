#include "streams_command.hpp"

#include "image_reader.hpp"

#include <charconv>
#include <optional>
#include <ostream>
#include <string_view>

namespace ouro {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

constexpr std::string_view kWhatToGive =
    "give the number of a running process, as `ps` or `pgrep <name>` tells it, or the file of a recording "
    "that the program made with ouro::save_recording(path): ouro streams <number or file>. A program's own "
    "table is written by ouro::write_blocks_text (ouro/streams/block_listing.hpp)";

std::optional<std::uint32_t> process_number(const std::string& target) {
    std::uint32_t number = 0;
    const char* const end = target.data() + target.size();
    const auto parsed = std::from_chars(target.data(), end, number);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
    return number;
}

StreamsReport report_of(const std::string& target) {
    if (const auto process_id = process_number(target))
        return {.process_id = *process_id, .is_live = true, .tables = read_block_tables(*process_id)};
    const LoadedImage loaded = load_recording(target);
    StreamsReport report{.process_id = loaded.process_id, .tables = {}};
    report.tables.push_back(parse_block_table(loaded.blocks, "'" + target + "'"));
    report.tables.back().tag_names = parse_tag_table(loaded.tags);
    return report;
}

}  // namespace

int run_streams(const StreamsRequest& request, std::ostream& out, std::ostream& errors) {
    if (request.target.empty()) {
        errors << "ouro streams: " << kWhatToGive << '\n';
        return kWrongUsage;
    }
    try {
        const StreamsReport report = report_of(request.target);
        if (request.as_json) {
            out << streams_json(report).dump(2) << '\n';
        } else {
            out << streams_text(report);
        }
        return 0;
    } catch (const ReportError& error) {
        errors << "ouro streams: " << error.what() << '\n';
        return kFailed;
    }
}

}  // namespace ouro
