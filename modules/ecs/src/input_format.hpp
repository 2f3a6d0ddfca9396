#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/ecs/input_block.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace ouro::detail {

// Motion is counted in fractions of this.
inline constexpr float kInputSteps = 256.0F;
// What stands for text that is none.
inline constexpr char32_t kNoCharacter = 0xFFFD;

// Zero for what is no number: NaNs have other bits on other platforms.
[[nodiscard]] constexpr float finite(float value) noexcept {
    return value - value == 0.0F ? value : 0.0F;
}

[[nodiscard]] constexpr bool is_character(char32_t code_point) noexcept {
    return code_point <= 0x10FFFF && (code_point < 0xD800 || code_point > 0xDFFF);
}

struct DecodedCharacter {
    char32_t code_point = kNoCharacter;
    std::size_t bytes = 1;
};

// The first character of a text that is not empty; kNoCharacter and one byte where there is none.
[[nodiscard]] DecodedCharacter decode_utf8(std::string_view text) noexcept;

// As InputReader::attach.
[[nodiscard]] Expected<const InputBlock*> find_input_block(std::span<const std::byte> memory) noexcept;

}  // namespace ouro::detail
