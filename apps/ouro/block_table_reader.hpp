#pragma once

#include <ouro/memory/block_registry.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ouro {

// A copy of one registry of blocks, with the entries that were listed.
struct BlockTableCopy {
    // The file whose code keeps it: the program, or a library that brings its own.
    std::string module;
    std::vector<BlockEntry> entries;
    std::uint64_t unlisted = 0;
    // Of the tags that the module has registered, by their numbers.
    std::map<std::uint64_t, std::string> tag_names;
};

// The registries of a running process. They lie among the variables of the program and its libraries, and are
// found by how they begin. Throws ReportError, but not because there is none.
[[nodiscard]] std::vector<BlockTableCopy> find_block_tables(std::uint32_t process_id);
// The same, and throws ReportError also when there is none.
[[nodiscard]] std::vector<BlockTableCopy> read_block_tables(std::uint32_t process_id);

// False for what is none, such as that of a program that never listed a block.
[[nodiscard]] bool is_block_table(const std::vector<std::byte>& bytes);

// What is listed in the bytes of a table, which come from elsewhere and may be cut short. Throws ReportError,
// naming the source, when they are no table of this version.
[[nodiscard]] BlockTableCopy parse_block_table(const std::vector<std::byte>& bytes,
                                               const std::string& source);
// The same for a table of tags; what is none has no names.
[[nodiscard]] std::map<std::uint64_t, std::string> parse_tag_table(const std::vector<std::byte>& bytes);

// The name of a tag by its number, as far as it is known.
[[nodiscard]] std::string block_tag_text(const BlockTableCopy& table, std::uint64_t id);

}  // namespace ouro
