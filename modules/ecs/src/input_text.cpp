#include "input_format.hpp"

#include <ouro/ecs/input_state.hpp>

#include <algorithm>

namespace ouro {
namespace {

// The bits of a character that a following byte carries.
constexpr unsigned kFollowingBits = 6;
constexpr std::array<char32_t, 4> kLeastOfLength = {0, 0x80, 0x800, 0x10000};

struct EncodedCharacter {
    std::array<char, 4> bytes{};
    std::size_t count = 0;
};

EncodedCharacter encode_utf8(char32_t code_point) noexcept {
    EncodedCharacter made;
    made.count = 1;
    while (made.count < kLeastOfLength.size() && code_point >= kLeastOfLength[made.count])
        ++made.count;
    if (made.count == 1) {
        made.bytes[0] = static_cast<char>(code_point);
        return made;
    }
    for (std::size_t index = made.count - 1; index != 0; --index) {
        made.bytes[index] = static_cast<char>(0x80U | (code_point & 0x3FU));
        code_point >>= kFollowingBits;
    }
    const unsigned length_bits = 0xF0U << (4 - made.count);
    made.bytes[0] = static_cast<char>(length_bits | code_point);
    return made;
}

// How many bytes a character has that begins so, or zero.
std::size_t length_of(unsigned first) noexcept {
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first < 0xE0) return 2;
    if (first >= 0xE0 && first < 0xF0) return 3;
    return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

}  // namespace

detail::DecodedCharacter detail::decode_utf8(std::string_view text) noexcept {
    const unsigned first = static_cast<unsigned char>(text[0]);
    const std::size_t length = length_of(first);
    if (length == 0 || length > text.size()) return {};
    if (length == 1) return {static_cast<char32_t>(first), 1};
    char32_t code_point = first & (0x7FU >> length);
    for (std::size_t index = 1; index < length; ++index) {
        const unsigned next = static_cast<unsigned char>(text[index]);
        if ((next & 0xC0U) != 0x80U) return {};
        code_point = (code_point << kFollowingBits) | (next & 0x3FU);
    }
    if (code_point < kLeastOfLength[length - 1] || !is_character(code_point)) return {};
    return {code_point, length};
}

std::string_view InputState::typed_utf8(std::span<char> out) const noexcept {
    std::size_t used = 0;
    for (const char32_t code_point : typed()) {
        const EncodedCharacter made =
            encode_utf8(detail::is_character(code_point) ? code_point : detail::kNoCharacter);
        if (made.count > out.size() - used) break;
        std::copy_n(made.bytes.data(), made.count, out.data() + used);
        used += made.count;
    }
    return {out.data(), used};
}

void InputState::forget_events() noexcept {
    keys_pressed = {};
    keys_released = {};
    mouse.moved_x = mouse.moved_y = 0;
    mouse.wheel_x = mouse.wheel_y = 0;
    mouse.pressed = mouse.released = 0;
    for (InputGamepad& gamepad : gamepads)
        gamepad.pressed = gamepad.released = 0;
    text = {};
    text_count = 0;
    text_dropped = 0;
}

}  // namespace ouro
