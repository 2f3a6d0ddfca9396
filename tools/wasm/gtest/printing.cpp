#include "decimal.hpp"

#include <cstdio>

#include <gtest/printing.h>

namespace testing::internal {

std::string print_signed(long long value) {
    return std::to_string(value);
}

std::string print_unsigned(unsigned long long value) {
    return std::to_string(value);
}

std::string print_char(long long code) {
    std::string out;
    if (code >= ' ' && code < 127) out = {'\'', static_cast<char>(code), '\'', ' '};
    return out + "(" + std::to_string(code) + ")";
}

std::string print_double(double value, int digits) {
    char text[ouro::wasm::Decimal::kMaxDigits + 64];
    return std::string(text, ouro::wasm::format_double(value, 'g', digits, text));
}

std::string print_pointer(std::uintptr_t address) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%08lx", static_cast<unsigned long>(address));
    return text;
}

std::string print_text(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '\n') {
            out += "\\n";
        } else if (c >= 0 && c < ' ') {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned>(c));
            out += escape;
        } else {
            if (c == '"' || c == '\\') out += '\\';
            out += c;
        }
    }
    return out + "\"";
}

std::string print_bytes(const void* object, std::size_t bytes) {
    constexpr std::size_t kMaxShown = 32;
    std::string out = std::to_string(bytes) + "-byte object <";
    const auto* at = static_cast<const unsigned char*>(object);
    for (std::size_t i = 0; i < bytes && i < kMaxShown; ++i) {
        char hex[8];
        std::snprintf(hex, sizeof hex, i == 0 ? "%02X" : " %02X", static_cast<unsigned>(at[i]));
        out += hex;
    }
    return out + (bytes > kMaxShown ? " ...>" : ">");
}

}  // namespace testing::internal
