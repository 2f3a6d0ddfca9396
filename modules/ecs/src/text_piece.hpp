#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ouro::detail {

// Text as far as there is room, with a zero at the end. Requires: room for the zero.
class TextPiece {
public:
    explicit TextPiece(std::span<char> text) noexcept : text_(text) { text_[0] = '\0'; }

    TextPiece& add(std::string_view part) noexcept {
        const std::size_t count = std::min(part.size(), text_.size() - 1 - used_);
        std::copy_n(part.data(), count, text_.data() + used_);
        used_ += count;
        text_[used_] = '\0';
        return *this;
    }
    template <class Number>
    TextPiece& number(Number value, int base = 10) noexcept {
        char digits[24];
        const auto end = std::to_chars(digits, digits + sizeof digits, value, base);
        return add({digits, static_cast<std::size_t>(end.ptr - digits)});
    }
    // What is no plain ASCII becomes a question mark, so that no terminal obeys it.
    TextPiece& printable(std::string_view part) noexcept {
        for (const char each : part)
            add(each >= ' ' && each <= '~' ? std::string_view(&each, 1) : "?");
        return *this;
    }
    [[nodiscard]] bool is_full() const noexcept { return used_ + 1 == text_.size(); }
    [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), used_}; }

private:
    std::span<char> text_;
    std::size_t used_ = 0;
};

// The shortest text that is read back as the same number, where the platform's library can do that.
void add_floating(TextPiece& text, float value) noexcept;
void add_floating(TextPiece& text, double value) noexcept;

}  // namespace ouro::detail
