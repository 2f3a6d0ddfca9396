#pragma once

#include <ouro/base/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// Looking at the memory of a process by its number: another one, where the system allows that, or this one.
// Nothing stops meanwhile, so that what is read may be from different moments. All of them fail with
// not_found when there is no such process, permission_denied, and not_supported in wasm32; too_many_files,
// io_error or os_error when the system fails.
namespace ouro::os {

// Calls visit(line) for each mapping, in the words of the system (Linux: a line of /proc/<number>/maps). The
// visit returns false to stop. A process that is ending has no mappings.
using MappingVisitor = bool (*)(std::string_view line, void* context);
Expected<void> visit_mapping_lines(std::uint32_t process, MappingVisitor visit, void* context) noexcept;

struct PageRun {
    std::size_t offset = 0;
    std::size_t bytes = 0;
};

// Calls visit(run) for each run of pages, by its offset from the address, that has memory behind it; all
// others hold zeroes when they belong to nobody but the process. Where the system does not tell, the whole
// range is one run. Requires: whole pages. The visit returns false to stop.
using PageRunVisitor = bool (*)(PageRun run, void* context);
Expected<void> visit_used_pages(std::uint32_t process, std::uint64_t address, std::size_t bytes,
                                PageRunVisitor visit, void* context) noexcept;

// Copies memory of the process. Fails with not_mapped too, when it is not readable there to the last byte.
Expected<void> read_process_memory(std::uint32_t process, std::uint64_t address,
                                   std::span<std::byte> target) noexcept;

}  // namespace ouro::os
