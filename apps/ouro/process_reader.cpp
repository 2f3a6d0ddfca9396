#include "image_checks.hpp"
#include "image_reader.hpp"
#include "process_errors.hpp"

#include <ouro/base/status.hpp>
#include <ouro/os/clock.hpp>
#include <ouro/os/other_process.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace ouro {
namespace {

using detail::ImageHeader;
using detail::ObserveImage;

struct Mapping {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
};

// Anonymous memory that can be read and written.
std::optional<Mapping> parse_candidate(std::string_view line) {
    constexpr int kHexadecimal = 16;
    Mapping mapping;
    const char* const end = line.data() + line.size();
    const auto start = std::from_chars(line.data(), end, mapping.start, kHexadecimal);
    if (start.ec != std::errc{} || start.ptr == end || *start.ptr != '-') return std::nullopt;
    const auto stop = std::from_chars(start.ptr + 1, end, mapping.end, kHexadecimal);
    if (stop.ec != std::errc{}) return std::nullopt;
    const std::string_view rights(stop.ptr, static_cast<std::size_t>(end - stop.ptr));
    const bool has_path = line.find('/') != std::string_view::npos;
    if (!rights.starts_with(" rw-p ") || has_path) return std::nullopt;
    return mapping;
}

struct Mappings {
    std::vector<Mapping> candidates;
    std::string text;
};

Mappings list_mappings(std::uint32_t process_id) {
    Mappings found;
    const auto add = [](std::string_view line, void* context) {
        auto& mappings = *static_cast<Mappings*>(context);
        mappings.text.append(line).append("\n");
        if (const auto candidate = parse_candidate(line)) mappings.candidates.push_back(*candidate);
        return true;
    };
    const auto visited = os::visit_mapping_lines(process_id, add, &found);
    if (!visited) complain_about_process(process_id, visited.status());
    if (found.text.empty())
        throw ProcessEnded(process_text(process_id) +
                           " has no memory of its own: it is ending, or a part of the system");
    return found;
}

// Where the images begin. A program may have several: its own, and that of a preloaded library.
std::vector<std::uint64_t> find_images(std::uint32_t process_id, const Mappings& mappings) {
    std::vector<std::uint64_t> places;
    for (const Mapping& mapping : mappings.candidates) {
        ImageHeader header{};
        const auto read =
            os::read_process_memory(process_id, mapping.start, std::as_writable_bytes(std::span(&header, 1)));
        // It may have been unmapped since.
        if (!read && read.status() != Status::not_mapped) complain_about_process(process_id, read.status());
        if (!read || header.magic != detail::kObserveMagic) continue;
        check_image_header(header, process_text(process_id).c_str());
        places.push_back(mapping.start);
    }
    if (!places.empty()) return places;
    throw NoRecords(
        process_text(process_id) +
            " keeps no records of its memory. Build the program with ouroboros::observe and let it "
            "allocate through a ChargedAllocator, or start it with LD_PRELOAD=libouroboros-malloc.so "
            "and OUROBOROS_MALLOC=profile=<file>",
        process_id, mappings.text);
}

struct Copying {
    std::uint32_t process_id;
    std::uint64_t address;
    LoadedImage* loaded;
    Status status = Status::ok;
};

bool copy_run(os::PageRun run, void* context) {
    auto& copying = *static_cast<Copying*>(context);
    const auto target = copying.loaded->copy.bytes();
    if (run.offset >= target.size()) return false;
    const auto part = target.subspan(run.offset, std::min(run.bytes, target.size() - run.offset));
    copying.status = os::read_process_memory(copying.process_id, copying.address + run.offset, part).status();
    copying.loaded->used_bytes += part.size();
    return copying.status == Status::ok;
}

LoadedImage copy_image(std::uint32_t process_id, std::uint64_t address) {
    LoadedImage loaded;
    loaded.process_id = process_id;
    loaded.is_live = true;
    Copying copying{process_id, address, &loaded};
    const auto visited = os::visit_used_pages(process_id, address, sizeof(ObserveImage), copy_run, &copying);
    if (!visited) complain_about_process(process_id, visited.status());
    if (copying.status != Status::ok) complain_about_process(process_id, copying.status);
    loaded.taken_ns = os::monotonic_ns();
    return loaded;
}

}  // namespace

std::string process_text(std::uint32_t process_id) {
    return "process " + std::to_string(process_id);
}

void complain_about_process(std::uint32_t process_id, Status status) {
    const std::string process = process_text(process_id);
    switch (status) {
        case Status::not_found:
            throw ProcessEnded("there is no " + process + " (any more); `ps` lists those that run");
        case Status::permission_denied:
            throw ReportError(
                "the system does not let you look into " + process +
                ": it belongs to another user, protects itself, or the system lets only parents look. Type "
                "the command as that user or as root, let the program call ouro::allow_reports(), or "
                "record itself with ouro::save_recording(path)");
        default:
            throw ReportError("cannot look into " + process + ": " + std::string(status_text(status)));
    }
}

LoadedImage load_process(std::uint32_t process_id, std::size_t record_set) {
    Mappings mappings = list_mappings(process_id);
    const std::vector<std::uint64_t> places = find_images(process_id, mappings);
    if (record_set > places.size())
        throw ReportError(process_text(process_id) + " keeps " + std::to_string(places.size()) +
                          (places.size() == 1 ? " set" : " sets") + " of records; there is no number " +
                          std::to_string(record_set));
    std::optional<LoadedImage> best;
    for (std::size_t number = 1; number <= places.size(); ++number) {
        if (record_set != kFullestRecords && number != record_set) continue;
        LoadedImage loaded = copy_image(process_id, places[number - 1]);
        loaded.record_set = number;
        loaded.record_sets = places.size();
        if (!best || loaded.used_bytes > best->used_bytes) best.emplace(std::move(loaded));
    }
    best->mappings = std::move(mappings.text);
    return std::move(*best);
}

}  // namespace ouro
