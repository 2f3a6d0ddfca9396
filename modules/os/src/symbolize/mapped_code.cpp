#include "describe_module.hpp"

#include <ouro/os/symbolize.hpp>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/stat.h>

namespace ouro::os {
namespace {

// One line of the system's list: "start-end rights offset device inode   path".
struct MappingLine {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint64_t inode = 0;
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
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line(text.data(), end == std::string_view::npos ? text.size() : end);
        MappingLine mapping;
        if (parse_line(line, mapping)) visit(line, mapping);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
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
    visit_lines(mappings, [file](std::string_view line, const MappingLine& mapping) {
        if (!is_still_there(mapping)) return;
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
    if (session_ != nullptr) ::dwfl_end(static_cast<Dwfl*>(session_));
}

CodeLocation MappedCode::describe(std::uint64_t address) noexcept {
    CodeLocation location;
    Dwfl_Module* const module =
        session_ != nullptr ? ::dwfl_addrmodule(static_cast<Dwfl*>(session_), address) : nullptr;
    if (module != nullptr) describe_in_module(module, address, location);
    if (location.module[0] != '\0') return location;
    MappingLine first_of_path;
    visit_lines(mappings_, [&](std::string_view, const MappingLine& mapping) {
        if (mapping.path != first_of_path.path) first_of_path = mapping;
        if (address < mapping.start || address >= mapping.end || mapping.path.empty()) return;
        copy_path(location.module, mapping.path);
        location.module_offset = static_cast<std::size_t>(address - first_of_path.start);
    });
    return location;
}

}  // namespace ouro::os
