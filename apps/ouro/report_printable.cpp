#include "report_parts.hpp"

namespace ouro {
namespace {

constexpr std::size_t kMostBytes = 4;

// How many bytes a letter takes that begins so; zero for what begins none.
std::size_t length_of(unsigned char first) {
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf) return 2;
    if (first >= 0xe0 && first <= 0xef) return 3;
    if (first >= 0xf0 && first <= 0xf4) return kMostBytes;
    return 0;
}

// The number of the letter; none for bytes that are cut off or belong to no letter.
std::optional<std::uint32_t> decode(std::string_view letter) {
    // The first byte's own bits, by the letter's length.
    constexpr std::array<unsigned, kMostBytes + 1> kOwnBits{0, 0x7f, 0x1f, 0x0f, 0x07};
    std::uint32_t number = static_cast<unsigned char>(letter.front()) & kOwnBits[letter.size()];
    for (const char byte : letter.substr(1)) {
        if ((static_cast<unsigned char>(byte) & 0xc0) != 0x80) return std::nullopt;
        number = number << 6 | (static_cast<unsigned char>(byte) & 0x3f);
    }
    return number;
}

// Nor those of the second set, which some terminals obey as well (\x9b begins a command).
bool is_harmless(std::uint32_t letter) {
    const bool is_control = letter < ' ' || (letter >= 0x7f && letter <= 0x9f);
    // Line ends of Unicode, and letters that turn the direction of those around them.
    const bool is_layout = (letter >= 0x2028 && letter <= 0x202e) || (letter >= 0x2066 && letter <= 0x2069);
    return !is_control && !is_layout;
}

}  // namespace

std::string printable(std::string_view text) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = length_of(static_cast<unsigned char>(text[at]));
        const std::string_view letter = text.substr(at, length);
        const auto number = length != 0 && letter.size() == length ? decode(letter) : std::nullopt;
        if (number && is_harmless(*number)) {
            result.append(letter);
        } else {
            result.push_back('?');
        }
        // What is no letter may be followed by one.
        at += number ? length : 1;
    }
    return result;
}

}  // namespace ouro
