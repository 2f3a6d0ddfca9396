#pragma once

#include <ouro/os/error_output.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ouro {

// A line for standard error, put together without a heap and written in one piece as long as it fits; safe in
// a signal handler.
class ErrorText {
public:
    ErrorText() noexcept = default;
    ~ErrorText() { flush(); }
    ErrorText(const ErrorText&) = delete;
    ErrorText& operator=(const ErrorText&) = delete;

    ErrorText& add(std::string_view text) noexcept {
        for (const char letter : text)
            add(letter);
        return *this;
    }

    // Closed by a zero byte; without this one, a literal would be taken for an address.
    ErrorText& add(const char* text) noexcept { return add(std::string_view(text)); }

    ErrorText& add(std::size_t number) noexcept { return add_digits(number, 10); }

    ErrorText& add(const void* address) noexcept {
        return add("0x").add_digits(reinterpret_cast<std::uintptr_t>(address), 16);
    }

    void flush() noexcept {
        os::write_error_text({text_, size_});
        size_ = 0;
    }

private:
    void add(char letter) noexcept {
        if (size_ == sizeof(text_)) flush();
        text_[size_++] = letter;
    }

    ErrorText& add_digits(std::size_t number, unsigned base) noexcept {
        if (number >= base) add_digits(number / base, base);
        add("0123456789abcdef"[number % base]);
        return *this;
    }

    char text_[1024];
    std::size_t size_ = 0;
};

}  // namespace ouro
