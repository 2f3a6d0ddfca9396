#pragma once

#include <cstddef>

namespace ouro::wasm {

// The decimal digits of a finite, non-negative double, rounded half to even:
// value = 0.d1 d2 d3 … × 10^point. Digits beyond `count` are zero.
struct Decimal {
    static constexpr int kMaxDigits = 800;  // the longest exact double has 767
    char digits[kMaxDigits];
    int count;
    int point;
};

// With at most `significant` digits.
void to_significant_digits(double value, int significant, Decimal* out);

// With at most `places` digits after the decimal point.
void to_decimal_places(double value, int places, Decimal* out);

// As printf's conversions f, e and g would write it (`style`). Returns the length; `out` holds at least
// kMaxDigits + 64 characters. `precision` is cut to 300.
std::size_t format_double(double value, char style, int precision, char* out);

}  // namespace ouro::wasm
