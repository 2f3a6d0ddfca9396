#include "text_file.hpp"

#include "file_descriptor.hpp"
#include "system_calls.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <system_error>

#include <unistd.h>

namespace ouro::os {
namespace {

Expected<std::size_t> read_some(int descriptor, std::span<char> buffer) noexcept {
    for (;;) {
        const ssize_t count =
            attempt(OsCall::read_file, [&] { return ::read(descriptor, buffer.data(), buffer.size()); });
        if (count >= 0) return static_cast<std::size_t>(count);
        if (errno != EINTR) return errno == EOPNOTSUPP ? Status::not_supported : Status::io_error;
    }
}

// Hands over the whole lines in the text and returns what is left behind the last of them.
std::string_view visit_lines(std::string_view text, LineVisitor visit, void* context,
                             bool& stopped) noexcept {
    for (;;) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) return text;
        if (!visit(text_until(text, end), context)) {
            stopped = true;
            return {};
        }
        text.remove_prefix(end + 1);
    }
}

}  // namespace

Expected<std::string_view> read_text_file(const char* path, std::span<char> buffer) noexcept {
    const auto file = FileDescriptor::open_for_reading(path);
    if (!file) return file.status();
    std::size_t filled = 0;
    while (filled < buffer.size()) {
        const auto count = read_some(file->get(), buffer.subspan(filled));
        if (!count) return count.status();
        if (*count == 0) break;
        filled += *count;
    }
    return std::string_view(buffer.data(), filled);
}

Expected<void> for_each_line(const char* path, LineVisitor visit, void* context) noexcept {
    const auto file = FileDescriptor::open_for_reading(path);
    if (!file) return file.status();
    std::array<char, 4096> buffer;
    std::size_t kept = 0;
    for (;;) {
        const auto count = read_some(file->get(), std::span(buffer).subspan(kept));
        if (!count) return count.status();
        bool stopped = false;
        const std::string_view rest = visit_lines({buffer.data(), kept + *count}, visit, context, stopped);
        if (stopped) return {};
        if (*count == 0) {
            if (!rest.empty()) visit(rest, context);
            return {};
        }
        kept = rest.size() < buffer.size() ? rest.size() : 0;
        if (kept == 0 && !rest.empty()) visit(rest, context);
        std::memmove(buffer.data(), rest.data(), kept);
    }
}

Expected<std::uint64_t> parse_number(std::string_view text, unsigned base) noexcept {
    const std::size_t start = text.find_first_not_of(" \t");
    if (start == std::string_view::npos) return Status::corrupt_data;
    std::uint64_t number = 0;
    const auto result =
        std::from_chars(text.data() + start, text.data() + text.size(), number, static_cast<int>(base));
    if (result.ec != std::errc{}) return Status::corrupt_data;
    return number;
}

Expected<std::uint64_t> read_number(const char* path) noexcept {
    std::array<char, 64> buffer;
    const auto text = read_text_file(path, buffer);
    if (!text) return text.status();
    return parse_number(*text);
}

Expected<std::string_view> find_field(std::string_view text, std::string_view key) noexcept {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text_until(text, end);
        if (line.starts_with(key)) return text_from(line, key.size());
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return Status::not_found;
}

}  // namespace ouro::os
