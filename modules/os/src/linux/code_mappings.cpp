#include "text_file.hpp"

#include <ouro/os/code_mappings.hpp>

#include <cstddef>
#include <span>

#include <link.h>

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
    mapping = {*begin, *end, *offset, *offset, text_from(line, line.find_first_not_of(' '))};
    return true;
}

// Asks the loader, which knows how far each file lies from where it was linked to. What it has not loaded
// keeps the offset.
void find_address_in_file(CodeMapping& mapping) noexcept {
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* context) {
            auto& wanted = *static_cast<CodeMapping*>(context);
            for (const ElfW(Phdr) & segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
                const std::uint64_t start = info->dlpi_addr + segment.p_vaddr;
                // The mapping is of whole pages.
                const bool is_it =
                    segment.p_type == PT_LOAD && start < wanted.end && start + segment.p_memsz > wanted.begin;
                if (!is_it) continue;
                wanted.address_in_file = wanted.begin - info->dlpi_addr;
                return 1;
            }
            return 0;
        },
        &mapping);
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
            if (!parse(line, mapping)) return true;
            find_address_in_file(mapping);
            return wanted.visit(mapping, wanted.context);
        },
        &request);
}

}  // namespace ouro::os
