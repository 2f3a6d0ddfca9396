#include "error_text.hpp"

#include <ouro/os/error_output.hpp>

#include <cstdint>

namespace ouro {

ErrorText::~ErrorText() {
    flush();
}

ErrorText& ErrorText::add(std::string_view text) noexcept {
    for (const char letter : text)
        add(letter);
    return *this;
}

ErrorText& ErrorText::add(const char* text) noexcept {
    return add(std::string_view(text));
}

ErrorText& ErrorText::add(std::size_t number) noexcept {
    return add_digits(number, 10);
}

ErrorText& ErrorText::add(std::size_t number, std::string_view thing) noexcept {
    add(number).add(" ").add(thing);
    return number == 1 ? *this : add("s");
}

ErrorText& ErrorText::add(const void* address) noexcept {
    return add("0x").add_digits(reinterpret_cast<std::uintptr_t>(address), 16);
}

ErrorText& ErrorText::add_leak(std::size_t blocks, std::size_t bytes) noexcept {
    add(blocks, "block").add(" with ").add(bytes, "byte");
    return add(blocks == 1 ? " was never freed" : " were never freed");
}

void ErrorText::flush() noexcept {
    os::write_error_text({text_, size_});
    size_ = 0;
}

void ErrorText::add(char letter) noexcept {
    if (size_ == sizeof(text_)) flush();
    text_[size_++] = letter;
}

ErrorText& ErrorText::add_digits(std::size_t number, unsigned base) noexcept {
    char digits[20];
    std::size_t first = sizeof(digits);
    do {
        digits[--first] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number != 0);
    return add(std::string_view(digits + first, sizeof(digits) - first));
}

}  // namespace ouro
