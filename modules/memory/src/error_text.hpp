#pragma once

#include <cstddef>
#include <string_view>

namespace ouro {

// A line for standard error, put together without a heap and written in one piece as long as it fits; safe in
// a signal handler. Nothing of it is inline: reports are put together from dozens of parts, in programs that
// hope never to print one.
class ErrorText {
public:
    ErrorText() noexcept = default;
    ~ErrorText();
    ErrorText(const ErrorText&) = delete;
    ErrorText& operator=(const ErrorText&) = delete;

    ErrorText& add(std::string_view text) noexcept;
    // Closed by a zero byte; without this one, a literal would be taken for an address.
    ErrorText& add(const char* text) noexcept;
    ErrorText& add(std::size_t number) noexcept;
    // "1 byte", "2 bytes".
    ErrorText& add(std::size_t number, std::string_view thing) noexcept;
    ErrorText& add(const void* address) noexcept;
    // "2 blocks with 30 bytes were never freed".
    ErrorText& add_leak(std::size_t blocks, std::size_t bytes) noexcept;

    void flush() noexcept;

private:
    void add(char letter) noexcept;
    ErrorText& add_digits(std::size_t number, unsigned base) noexcept;

    char text_[1024];
    std::size_t size_ = 0;
};

}  // namespace ouro
