#pragma once

#include <cstddef>
#include <cstdint>

// Text to standard error without a heap.
namespace ouro::process_heap {

void write_error(const char* text) noexcept;
void write_error(const char* text, std::size_t length) noexcept;

// Collects a text and writes it in one piece, so that those of several processes do not mix. May be used in a
// signal handler. What does not fit is left out.
class TextBuffer {
public:
    TextBuffer& add(const char* text) noexcept;
    TextBuffer& add_number(std::uint64_t number) noexcept;
    // With a unit that keeps it readable: 1536 is "1.5 KiB".
    TextBuffer& add_bytes(std::uint64_t bytes) noexcept;
    // Spaces up to a column, counted from the last line's start.
    TextBuffer& pad_to(std::size_t column) noexcept;

    [[nodiscard]] const char* data() const noexcept { return text_; }
    [[nodiscard]] std::size_t length() const noexcept { return length_; }
    void write() const noexcept { write_error(text_, length_); }

private:
    void add_character(char character) noexcept;

    static constexpr std::size_t kMostBytes = 2048;
    char text_[kMostBytes] = {};
    std::size_t length_ = 0;
    std::size_t line_start_ = 0;
};

}  // namespace ouro::process_heap
