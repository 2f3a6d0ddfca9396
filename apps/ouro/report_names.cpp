#include "report_names.hpp"

#include "report_parts.hpp"

#include <ouro/os/symbolize.hpp>

#include <algorithm>
#include <unordered_map>

namespace ouro {
namespace {

std::string text_of(const char (&text)[256]) {
    std::array<char, sizeof text> copy;
    std::copy(std::begin(text), std::end(text), copy.begin());
    return printable(copy);
}

FrameReport describe(os::MappedCode& code, std::uint64_t address) {
    // A return address points behind its call.
    const os::CodeLocation location = code.describe(address == 0 ? 0 : address - 1);
    return {.address = address,
            .function = text_of(location.function),
            .file = text_of(location.file),
            .line = location.line,
            .module = text_of(location.module),
            .module_offset = location.module_offset};
}

}  // namespace

void name_sites(Report& report, const std::string& mappings, std::size_t count) {
    if (!report.profile || report.profile->sites.empty()) return;
    os::MappedCode code(mappings);
    std::unordered_map<std::uint64_t, FrameReport> known;
    std::vector<SiteReport>& sites = report.profile->sites;
    for (std::size_t index = 0; index < std::min(count, sites.size()); ++index) {
        for (FrameReport& frame : sites[index].frames) {
            const auto [found, is_new] = known.try_emplace(frame.address);
            if (is_new) found->second = describe(code, frame.address);
            frame = found->second;
        }
    }
}

}  // namespace ouro
