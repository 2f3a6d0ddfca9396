#pragma once

#include <ouro/base/bits.hpp>
#include <ouro/base/sim_value.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ouro {

// Keys are numbered as the keyboard page of USB HID numbers them (A is 4, Enter is 40, left Shift is 225),
// which says where a key lies and not what is printed on it.
inline constexpr unsigned kInputKeys = 256;
inline constexpr unsigned kInputMouseButtons = 16;
inline constexpr unsigned kInputGamepads = 4;
inline constexpr unsigned kInputGamepadButtons = 32;
inline constexpr unsigned kInputGamepadAxes = 8;
// What can be typed between two samples; what is more loses its beginning.
inline constexpr unsigned kInputTextLimit = 64;

// A bit a key.
using InputKeys = std::array<std::uint64_t, kInputKeys / 64>;

struct InputMouse {
    // Where it is.
    float x;
    float y;
    // Since the sample before, in steps of 1/256; what is lost by rounding comes with a later one.
    float moved_x;
    float moved_y;
    float wheel_x;
    float wheel_y;
    // A bit a button.
    std::uint16_t down;
    std::uint16_t pressed;
    std::uint16_t released;
    std::uint16_t unused;
};

struct InputGamepad {
    std::array<float, kInputGamepadAxes> axes;
    // A bit a button.
    std::uint32_t down;
    std::uint32_t pressed;
    std::uint32_t released;
    // 0 or 1. One that is not connected has nothing down and its axes at zero.
    std::uint32_t is_connected;
};

// What a tick knows of keyboard, mouse and gamepads. A plain value for the image: a tick that is simulated
// again reads it there and sees what it saw. Pressed and released are what happened since the sample before;
// both, for a key that went down and up between two samples.
struct InputState {
    InputKeys keys_down;
    InputKeys keys_pressed;
    InputKeys keys_released;
    InputMouse mouse;
    std::array<InputGamepad, kInputGamepads> gamepads;
    // What was typed since the sample before, as code points; zero behind its end.
    std::array<char32_t, kInputTextLimit> text;
    std::uint32_t text_count;
    // How many were typed before those and are lost.
    std::uint32_t text_dropped;

    // Requires, for all of them: a key below kInputKeys.
    [[nodiscard]] bool is_down(unsigned key) const noexcept { return test_bit(keys_down, key); }
    [[nodiscard]] bool was_pressed(unsigned key) const noexcept { return test_bit(keys_pressed, key); }
    [[nodiscard]] bool was_released(unsigned key) const noexcept { return test_bit(keys_released, key); }

    // Never more than there is room for, whatever the bytes say that were read from somewhere.
    [[nodiscard]] std::span<const char32_t> typed() const noexcept {
        return std::span(text).first(text_count < kInputTextLimit ? text_count : kInputTextLimit);
    }
    // The text as UTF-8, written to `out`: as many whole characters as there is room for. Four bytes a
    // character are always enough.
    [[nodiscard]] std::string_view typed_utf8(std::span<char> out) const noexcept;

    // A tick with the same things held down in which nothing happens: for ticks without a sample.
    void forget_events() noexcept;
};

static_assert(SimValue<InputState>);
static_assert(sizeof(InputMouse) == 32 && sizeof(InputGamepad) == 48 && sizeof(InputState) == 584);
static_assert(offsetof(InputState, mouse) == 96 && offsetof(InputState, gamepads) == 128 &&
              offsetof(InputState, text) == 320 && offsetof(InputState, text_count) == 576);

}  // namespace ouro
