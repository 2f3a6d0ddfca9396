#include "text_piece.hpp"

#include <charconv>

namespace ouro::detail {
namespace {

template <class Number>
void add_shortest(TextPiece& text, Number value) noexcept {
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, value);
    text.add({digits, static_cast<std::size_t>(end.ptr - digits)});
}

}  // namespace

void add_floating(TextPiece& text, float value) noexcept {
    add_shortest(text, value);
}

void add_floating(TextPiece& text, double value) noexcept {
    add_shortest(text, value);
}

}  // namespace ouro::detail
