#include "text_piece.hpp"

#include <cstdint>

// The library here has no texts of floating point numbers: nine digits, the last of which may be off by one.
namespace ouro::detail {

void add_floating(TextPiece& text, double value) noexcept {
    if (value != value) {
        text.add("nan");
        return;
    }
    if (value < 0) text.add("-");
    double left = value < 0 ? -value : value;
    if (left > 1.7e308) {
        text.add("inf");
        return;
    }
    int exponent = 0;
    for (; left >= 1e9; left /= 10)
        ++exponent;
    for (; left != 0 && left < 1e-4; left *= 10)
        --exponent;
    auto whole = static_cast<std::uint64_t>(left);
    double rest = left - static_cast<double>(whole);
    text.number(whole);
    for (int digit = 0; rest > 1e-9 && digit < 9; ++digit) {
        if (digit == 0) text.add(".");
        rest *= 10;
        whole = static_cast<std::uint64_t>(rest);
        text.number(whole);
        rest -= static_cast<double>(whole);
    }
    if (exponent != 0) text.add("e").number(exponent);
}

void add_floating(TextPiece& text, float value) noexcept {
    add_floating(text, static_cast<double>(value));
}

}  // namespace ouro::detail
