#include "text_output.hpp"

#include <cerrno>
#include <cstring>
#include <iterator>

#include <unistd.h>

namespace ouro::process_heap {

void write_error(const char* text, std::size_t length) noexcept {
    while (length != 0) {
        const ssize_t written = ::write(STDERR_FILENO, text, length);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        text += written;
        length -= static_cast<std::size_t>(written);
    }
}

void write_error(const char* text) noexcept {
    write_error(text, std::strlen(text));
}

void TextBuffer::add_character(char character) noexcept {
    // The last byte stays zero.
    if (length_ + 1 >= kMostBytes) return;
    text_[length_++] = character;
    if (character == '\n') line_start_ = length_;
}

TextBuffer& TextBuffer::add(const char* text) noexcept {
    for (; *text != '\0'; ++text)
        add_character(*text);
    return *this;
}

TextBuffer& TextBuffer::add_number(std::uint64_t number) noexcept {
    char digits[20];
    std::size_t count = 0;
    do {
        digits[count++] = static_cast<char>('0' + number % 10);
        number /= 10;
    } while (number != 0);
    while (count != 0)
        add_character(digits[--count]);
    return *this;
}

TextBuffer& TextBuffer::add_bytes(std::uint64_t bytes) noexcept {
    constexpr const char* kUnits[] = {" B", " KiB", " MiB", " GiB", " TiB"};
    std::size_t unit = 0;
    std::uint64_t rest = 0;
    while (bytes >= 1024 && unit + 1 < std::size(kUnits)) {
        rest = bytes % 1024;
        bytes /= 1024;
        ++unit;
    }
    add_number(bytes);
    if (unit != 0) add(".").add_number(rest * 10 / 1024);
    return add(kUnits[unit]);
}

TextBuffer& TextBuffer::pad_to(std::size_t column) noexcept {
    while (length_ - line_start_ < column && length_ + 1 < kMostBytes)
        add_character(' ');
    return *this;
}

}  // namespace ouro::process_heap
