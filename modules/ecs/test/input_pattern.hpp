#pragma once

#include <ouro/ecs/input_block.hpp>

#include <array>
#include <cstdint>
#include <cstring>

// Input in which one number stands everywhere, so that a copy made of two of them is noticed.
namespace ouro::testing_support {

inline void write_pattern(InputWriter& writer, std::uint32_t number) {
    const auto value = static_cast<float>(number);
    std::array<float, kInputGamepadAxes> axes;
    axes.fill(value);
    writer.place_mouse(value, value);
    writer.move_mouse(1, 1);
    for (unsigned key = 0; key < kInputKeys; ++key)
        writer.key(key, number % 2 != 0);
    for (unsigned index = 0; index < kInputGamepads; ++index)
        writer.gamepad(index, number, axes);
    writer.type("x");
    writer.publish();
}

// Requires: patterns were written with the numbers from 1 on, each once.
inline bool is_whole(const InputRecord& record) {
    const std::uint32_t number = record.text_total;
    const auto value = static_cast<float>(number);
    bool is_same = record.mouse.x == value && record.mouse.y == value;
    is_same = is_same && record.mouse.move_x == static_cast<std::int32_t>(256 * number);
    is_same = is_same && record.mouse.move_y == static_cast<std::int32_t>(256 * number);
    for (const std::uint64_t word : record.keys_down)
        is_same = is_same && word == (number % 2 != 0 ? ~std::uint64_t{0} : 0);
    for (const std::uint8_t presses : record.key_presses)
        is_same = is_same && presses == static_cast<std::uint8_t>((number + 1) / 2);
    for (const InputRecord::Gamepad& gamepad : record.gamepads) {
        if (number != 0) is_same = is_same && gamepad.is_connected == 1 && gamepad.down == number;
        for (const float axis : gamepad.axes)
            is_same = is_same && axis == value;
    }
    return is_same;
}

}  // namespace ouro::testing_support
