#include "text_file.hpp"

#include <ouro/os/code_mappings.hpp>

namespace ouro::os {
namespace {

// Cuts the text up to the next space off.
std::string_view take_field(std::string_view& line) noexcept {
    const std::size_t start = line.find_first_not_of(' ');
    line = text_from(line, start);
    const std::string_view field = text_until(line, line.find(' '));
    line = text_from(line, field.size());
    return field;
}

// As proc_pid_maps(5) describes: addresses, permissions, offset, device, inode, path.
bool parse(std::string_view line, CodeMapping& mapping) noexcept {
    const std::string_view addresses = take_field(line);
    const std::string_view permissions = take_field(line);
    const std::size_t dash = addresses.find('-');
    const auto begin = parse_number(text_until(addresses, dash), 16);
    const auto end = parse_number(text_from(addresses, dash + 1), 16);
    const auto offset = parse_number(take_field(line), 16);
    if (!begin || !end || !offset || permissions.find('x') == std::string_view::npos) return false;
    take_field(line);
    take_field(line);
    mapping = {*begin, *end, *offset, text_from(line, line.find_first_not_of(' '))};
    return true;
}

struct Visit {
    CodeMappingVisitor visit;
    void* context;
};

}  // namespace

Expected<void> for_each_code_mapping(CodeMappingVisitor visit, void* context) noexcept {
    Visit request{visit, context};
    return for_each_line(
        "/proc/self/maps",
        [](std::string_view line, void* argument) {
            const Visit& wanted = *static_cast<const Visit*>(argument);
            CodeMapping mapping;
            return !parse(line, mapping) || wanted.visit(mapping, wanted.context);
        },
        &request);
}

}  // namespace ouro::os
