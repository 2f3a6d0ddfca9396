#pragma once

#include <ouro/base/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// Reading the kernel's small text files without allocating.
namespace ouro::os {

// The text up to and from a position; std::string_view::substr would throw for one behind the end, these give
// what there is.
[[nodiscard]] constexpr std::string_view text_until(std::string_view text, std::size_t end) noexcept {
    return {text.data(), end < text.size() ? end : text.size()};
}
[[nodiscard]] constexpr std::string_view text_from(std::string_view text, std::size_t start) noexcept {
    text.remove_prefix(start < text.size() ? start : text.size());
    return text;
}

// The file's text, in the buffer; a file longer than the buffer is cut. Fails with not_found,
// permission_denied, too_many_files or io_error.
[[nodiscard]] Expected<std::string_view> read_text_file(const char* path, std::span<char> buffer) noexcept;

// Calls visit(line) for each line of a file of any length; lines longer than the internal buffer come cut,
// without their end. The visit returns false to stop.
using LineVisitor = bool (*)(std::string_view line, void* context);
Expected<void> for_each_line(const char* path, LineVisitor visit, void* context) noexcept;

// The number at the start of the text, leading spaces skipped; corrupt_data when there is none or it is too
// large.
[[nodiscard]] Expected<std::uint64_t> parse_number(std::string_view text, unsigned base = 10) noexcept;

// The number in a whole file, e.g. /proc/sys/vm/max_map_count.
[[nodiscard]] Expected<std::uint64_t> read_number(const char* path) noexcept;

// The rest of the line that starts with the key, e.g. "MemTotal:"; not_found when no line does.
[[nodiscard]] Expected<std::string_view> find_field(std::string_view text, std::string_view key) noexcept;

}  // namespace ouro::os
