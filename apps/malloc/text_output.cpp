#include "text_output.hpp"

#include <cstring>

#include <unistd.h>

namespace ouro::process_heap {

void write_error(const char* text, std::size_t length) noexcept {
    while (length != 0) {
        const ssize_t written = ::write(STDERR_FILENO, text, length);
        if (written <= 0) return;
        text += written;
        length -= static_cast<std::size_t>(written);
    }
}

void write_error(const char* text) noexcept {
    write_error(text, std::strlen(text));
}

void write_error_number(std::uint64_t number) noexcept {
    char digits[20];
    std::size_t length = 0;
    do {
        digits[sizeof digits - ++length] = static_cast<char>('0' + number % 10);
        number /= 10;
    } while (number != 0);
    write_error(digits + sizeof digits - length, length);
}

}  // namespace ouro::process_heap
