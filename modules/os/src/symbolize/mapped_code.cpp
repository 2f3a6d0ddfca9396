#include "describe_module.hpp"

#include <ouro/os/symbolize.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/stat.h>

namespace ouro::os {
namespace {

// More than the system lets a process have, unless told otherwise; what claims to have more is not read to
// the end.
constexpr std::size_t kMostLines = std::size_t{1} << 17;

// One line of the system's list: "start-end rights offset device inode   path".
struct MappingLine {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint64_t inode = 0;
    std::string_view path;
};

// A line of a file, and where the file's first one begins.
struct ModuleLine {
    std::uint64_t start;
    std::uint64_t end;
    std::uint64_t module_start;
    std::string_view path;
};

// Takes a field off the front of the line.
std::string_view take_field(std::string_view& line) noexcept {
    const std::size_t begin = line.find_first_not_of(' ');
    line.remove_prefix(begin == std::string_view::npos ? line.size() : begin);
    const std::size_t length = line.find(' ');
    const std::string_view field(line.data(), length == std::string_view::npos ? line.size() : length);
    line.remove_prefix(field.size());
    return field;
}

bool parse(std::string_view text, int base, std::uint64_t& number) noexcept {
    const auto result = std::from_chars(text.data(), text.data() + text.size(), number, base);
    return result.ec == std::errc{} && result.ptr == text.data() + text.size();
}

bool parse_line(std::string_view line, MappingLine& mapping) noexcept {
    constexpr int kHexadecimal = 16;
    const std::string_view range = take_field(line);
    const std::size_t dash = range.find('-');
    if (dash == std::string_view::npos) return false;
    for (int skipped = 0; skipped < 3; ++skipped)
        take_field(line);
    const std::string_view inode = take_field(line);
    const std::size_t path = line.find_first_not_of(' ');
    line.remove_prefix(path == std::string_view::npos ? line.size() : path);
    mapping.path = line;
    return parse({range.data(), dash}, kHexadecimal, mapping.start) &&
           parse({range.data() + dash + 1, range.size() - dash - 1}, kHexadecimal, mapping.end) &&
           parse(inode, 10, mapping.inode);
}

// Calls visit(line, mapping) for each line that can be read.
template <class Visit>
void visit_lines(std::string_view text, Visit&& visit) {
    for (std::size_t count = 0; !text.empty() && count < kMostLines; ++count) {
        const std::size_t end = text.find('\n');
        const std::string_view line(text.data(), end == std::string_view::npos ? text.size() : end);
        MappingLine mapping;
        if (parse_line(line, mapping)) visit(line, mapping);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
}

// Without what the system adds to the name of a file that is gone: addresses are looked up in another copy of
// it, which has the plain name.
std::string_view plain_path(std::string_view path) noexcept {
    constexpr std::string_view kGone = " (deleted)";
    return path.ends_with(kGone) ? path.substr(0, path.size() - kGone.size()) : path;
}

void copy_path(char (&target)[256], std::string_view path) noexcept {
    const std::size_t length = path.size() < sizeof target ? path.size() : sizeof target - 1;
    std::memcpy(target, path.data(), length);
    target[length] = '\0';
}

// The file that was mapped, not one that took its place.
bool is_still_there(const MappingLine& mapping) noexcept {
    char path[4096];
    if (!mapping.path.starts_with('/') || mapping.path.size() >= sizeof path) return false;
    std::memcpy(path, mapping.path.data(), mapping.path.size());
    path[mapping.path.size()] = '\0';
    struct stat found{};
    return ::stat(path, &found) == 0 && S_ISREG(found.st_mode) && found.st_ino == mapping.inode;
}

// Files of their own with debug information are looked for in the usual places.
constinit char* g_debug_path = nullptr;
const Dwfl_Callbacks kCallbacks{::dwfl_linux_proc_find_elf, ::dwfl_standard_find_debuginfo, nullptr,
                                &g_debug_path};

// The lines of files that are still there, in a buffer to be freed.
char* usable_lines(std::string_view mappings, std::size_t& bytes) noexcept {
    char* text = nullptr;
    std::FILE* const file = ::open_memstream(&text, &bytes);
    if (file == nullptr) return nullptr;
    MappingLine asked;
    bool is_there = false;
    visit_lines(mappings, [&](std::string_view line, const MappingLine& mapping) {
        // A file has several lines, one after the other.
        if (mapping.path != asked.path || mapping.inode != asked.inode) is_there = is_still_there(mapping);
        asked = mapping;
        if (!is_there) return;
        std::fwrite(line.data(), 1, line.size(), file);
        std::fputc('\n', file);
    });
    std::fclose(file);
    return text;
}

void report_modules(Dwfl* session, std::string_view mappings) noexcept {
    std::size_t bytes = 0;
    char* const text = usable_lines(mappings, bytes);
    std::FILE* const file = bytes != 0 ? ::fmemopen(text, bytes, "r") : nullptr;
    if (file != nullptr) {
        ::dwfl_report_begin(session);
        ::dwfl_linux_proc_maps_report(session, file);
        ::dwfl_report_end(session, nullptr, nullptr);
        std::fclose(file);
    }
    std::free(text);
}

}  // namespace

MappedCode::MappedCode(std::string_view mappings) noexcept : mappings_(mappings) {
    Dwfl* const session = ::dwfl_begin(&kCallbacks);
    if (session != nullptr) report_modules(session, mappings);
    session_ = session;
}

MappedCode::~MappedCode() {
    std::free(lines_);
    if (session_ != nullptr) ::dwfl_end(static_cast<Dwfl*>(session_));
}

CodeLocation MappedCode::describe(std::uint64_t address) noexcept {
    CodeLocation location;
    Dwfl_Module* const module =
        session_ != nullptr ? ::dwfl_addrmodule(static_cast<Dwfl*>(session_), address) : nullptr;
    if (module != nullptr) describe_in_module(module, address, location);
    if (location.module[0] != '\0' || !list_modules()) return location;
    const auto* const lines = static_cast<const ModuleLine*>(lines_);
    const auto* const behind =
        std::upper_bound(lines, lines + line_count_, address,
                         [](std::uint64_t wanted, const ModuleLine& line) { return wanted < line.start; });
    if (behind == lines || address >= behind[-1].end) return location;
    copy_path(location.module, plain_path(behind[-1].path));
    location.module_offset = static_cast<std::size_t>(address - behind[-1].module_start);
    return location;
}

// The text may be long, and every address may be unknown: it is read once.
bool MappedCode::list_modules() noexcept {
    if (has_listed_) return lines_ != nullptr;
    has_listed_ = true;
    std::size_t count = 0;
    visit_lines(mappings_, [&](std::string_view, const MappingLine&) { ++count; });
    auto* const lines =
        count != 0 ? static_cast<ModuleLine*>(std::malloc(count * sizeof(ModuleLine))) : nullptr;
    if (lines == nullptr) return false;
    MappingLine first_of_path;
    visit_lines(mappings_, [&](std::string_view, const MappingLine& mapping) {
        if (mapping.path != first_of_path.path) first_of_path = mapping;
        if (!mapping.path.empty())
            lines[line_count_++] = {mapping.start, mapping.end, first_of_path.start, mapping.path};
    });
    std::sort(lines, lines + line_count_,
              [](const ModuleLine& one, const ModuleLine& other) { return one.start < other.start; });
    lines_ = lines;
    return true;
}

}  // namespace ouro::os
