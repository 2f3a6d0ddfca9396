#pragma once

#include <ouro/base/expected.hpp>

#include <cstdint>
#include <string_view>

namespace ouro::os {

// A part of the process's addresses that holds code of a file.
struct CodeMapping {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    // Where in the file it begins.
    std::uint64_t file_offset = 0;
    // What the file itself calls its beginning: linkers need not put code where it lies in the file. This is
    // what addr2line takes.
    std::uint64_t address_in_file = 0;
    // Valid during the visit; empty for code that lies in no file.
    std::string_view path;
};

// Returns false to stop.
using CodeMappingVisitor = bool (*)(const CodeMapping& mapping, void* context);

// Visits all that there are now, by ascending addresses, without allocating: for reports. Fails with
// not_found, permission_denied, too_many_files or io_error, and with not_supported in wasm32.
Expected<void> for_each_code_mapping(CodeMappingVisitor visit, void* context) noexcept;

}  // namespace ouro::os
