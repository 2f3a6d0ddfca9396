// Exact: a double is an integer times a power of two, and every such number has finitely many decimal digits.
#include "decimal.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

namespace ouro::wasm {
namespace {

constexpr std::uint32_t kLimbBase = 1'000'000'000;
constexpr int kLimbDigits = 9;
constexpr int kMaxLimbs = 128;

// A natural number in limbs of nine decimal digits, the lowest first.
struct Natural {
    std::uint32_t limbs[kMaxLimbs];
    int count = 0;

    explicit Natural(std::uint64_t value) {
        for (; value != 0; value /= kLimbBase)
            limbs[count++] = static_cast<std::uint32_t>(value % kLimbBase);
    }

    void multiply(std::uint32_t factor) {
        std::uint64_t carry = 0;
        for (int i = 0; i < count; ++i) {
            carry += std::uint64_t{limbs[i]} * factor;
            limbs[i] = static_cast<std::uint32_t>(carry % kLimbBase);
            carry /= kLimbBase;
        }
        if (carry != 0) limbs[count++] = static_cast<std::uint32_t>(carry);
    }
};

// All digits of the value, exactly.
void exact_digits(double value, Decimal* out) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const int biased = static_cast<int>(bits >> 52 & 0x7FF);
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
    Natural number(biased == 0 ? fraction : fraction | std::uint64_t{1} << 52);
    int exponent = (biased == 0 ? 1 : biased) - 1075;
    // m × 2^-k = (m × 5^k) × 10^-k
    const int decimal_shift = exponent < 0 ? -exponent : 0;
    for (; exponent > 0; --exponent)
        number.multiply(2);
    for (; exponent < 0; ++exponent)
        number.multiply(5);

    out->count = 0;
    out->point = 0;
    for (int i = number.count - 1; i >= 0; --i) {
        std::uint32_t scale = kLimbBase / 10;
        for (int d = 0; d < kLimbDigits; ++d, scale /= 10) {
            const char digit = static_cast<char>('0' + number.limbs[i] / scale % 10);
            if (out->count == 0 && digit == '0') continue;
            out->digits[out->count++] = digit;
        }
    }
    if (out->count > 0) out->point = out->count - decimal_shift;
}

bool rounds_up(const Decimal& exact, int keep) {
    if (exact.digits[keep] != '5') return exact.digits[keep] > '5';
    for (int i = keep + 1; i < exact.count; ++i) {
        if (exact.digits[i] != '0') return true;
    }
    return keep > 0 && (exact.digits[keep - 1] - '0') % 2 != 0;
}

void round_to(int keep, Decimal* number) {
    if (keep >= number->count) return;
    if (keep < 0) {
        number->count = 0;
        return;
    }
    const bool up = rounds_up(*number, keep);
    number->count = keep;
    if (!up) return;
    int at = keep - 1;
    while (at >= 0 && number->digits[at] == '9')
        number->digits[at--] = '0';
    if (at >= 0) {
        ++number->digits[at];
        return;
    }
    std::memmove(number->digits + 1, number->digits, static_cast<std::size_t>(keep));
    number->digits[0] = '1';
    number->count = keep + 1;
    ++number->point;
}

// Appends characters to a buffer that is known to be large enough.
struct Writer {
    char* at;
    void put(char c) { *at++ = c; }
    void put(const char* text) {
        while (*text != '\0')
            put(*text++);
    }
};

char digit_at(const Decimal& number, int index) {
    return index >= 0 && index < number.count ? number.digits[index] : '0';
}

void write_fixed(const Decimal& number, int places, Writer* out) {
    if (number.point <= 0 || number.count == 0) out->put('0');
    for (int i = 0; number.count > 0 && i < number.point; ++i)
        out->put(digit_at(number, i));
    if (places > 0) out->put('.');
    const int first = number.count == 0 ? 0 : number.point;
    for (int i = 0; i < places; ++i)
        out->put(digit_at(number, first + i));
}

void write_scientific(const Decimal& number, int places, Writer* out) {
    out->put(digit_at(number, 0));
    if (places > 0) out->put('.');
    for (int i = 1; i <= places; ++i)
        out->put(digit_at(number, i));
    int exponent = number.count == 0 ? 0 : number.point - 1;
    out->put('e');
    out->put(exponent < 0 ? '-' : '+');
    if (exponent < 0) exponent = -exponent;
    if (exponent >= 100) out->put(static_cast<char>('0' + exponent / 100));
    out->put(static_cast<char>('0' + exponent / 10 % 10));
    out->put(static_cast<char>('0' + exponent % 10));
}

void write_general(double value, int precision, Writer* out) {
    if (precision == 0) precision = 1;
    Decimal number;
    to_significant_digits(value, precision, &number);
    while (number.count > 0 && number.digits[number.count - 1] == '0')
        --number.count;
    const int exponent = number.count == 0 ? 0 : number.point - 1;
    if (exponent < -4 || exponent >= precision) {
        write_scientific(number, number.count > 0 ? number.count - 1 : 0, out);
    } else {
        const int places = number.count - number.point;
        write_fixed(number, number.count > 0 && places > 0 ? places : 0, out);
    }
}

}  // namespace

void to_significant_digits(double value, int significant, Decimal* out) {
    exact_digits(value, out);
    round_to(significant, out);
}

void to_decimal_places(double value, int places, Decimal* out) {
    exact_digits(value, out);
    round_to(out->point + places, out);
}

std::size_t format_double(double value, char style, int precision, char* out) {
    Writer writer{out};
    if (std::bit_cast<std::uint64_t>(value) >> 63 != 0) writer.put('-');
    const double magnitude = __builtin_fabs(value);
    if (precision > 300) precision = 300;
    if (magnitude != magnitude) {
        writer.put("nan");
    } else if (magnitude == __builtin_inf()) {
        writer.put("inf");
    } else if (style == 'f') {
        Decimal number;
        to_decimal_places(magnitude, precision, &number);
        write_fixed(number, precision, &writer);
    } else if (style == 'e') {
        Decimal number;
        to_significant_digits(magnitude, precision + 1, &number);
        write_scientific(number, precision, &writer);
    } else {
        write_general(magnitude, precision, &writer);
    }
    return static_cast<std::size_t>(writer.at - out);
}

}  // namespace ouro::wasm
