#include "input_format.hpp"

#include <ouro/base/align.hpp>
#include <ouro/ecs/input_block.hpp>

#include <algorithm>
#include <cstring>
#include <memory>

namespace ouro {
namespace {

constexpr float kMostSteps = 1 << 24;

// Adds to a total that wraps around; what is less than a step stays in `rest`.
void add_motion(std::int32_t& total, float& rest, float distance) noexcept {
    const float steps =
        std::clamp(detail::finite(distance) * detail::kInputSteps + rest, -kMostSteps, kMostSteps);
    const auto whole = static_cast<std::int32_t>(steps);
    rest = steps - static_cast<float>(whole);
    total = static_cast<std::int32_t>(static_cast<std::uint32_t>(total) + static_cast<std::uint32_t>(whole));
}

}  // namespace

Expected<InputWriter> InputWriter::create(MemoryBlock memory) noexcept {
    if (memory.size < sizeof(InputBlock)) return Status::capacity_exhausted;
    if (!is_aligned(memory.data, kInputBlockAlignment)) return Status::bad_alignment;
    std::memset(memory.data, 0, sizeof(InputBlock));
    auto* const block = ::new (memory.data) InputBlock{};
    block->version = InputBlock::kVersion;
    block->record_bytes = sizeof(InputRecord);
    block->magic = InputBlock::kMagic;
    return InputWriter(block);
}

Expected<InputWriter> InputWriter::take_over(MemoryBlock memory) noexcept {
    const auto found = detail::find_input_block(memory.bytes());
    if (!found) return found.status();
    InputWriter writer(reinterpret_cast<InputBlock*>(memory.data));
    std::array<std::uint32_t, InputBlock::kWords> words;
    for (std::size_t index = 0; index < words.size(); ++index)
        words[index] = (*found)->words[index].load(std::memory_order_relaxed);
    std::memcpy(&writer.record_, words.data(), sizeof(writer.record_));
    writer.release_all();
    writer.publish();
    return writer;
}

void InputWriter::key(unsigned key, bool is_down) noexcept {
    if (key >= kInputKeys || test_bit(record_.keys_down, key) == is_down) return;
    if (is_down) {
        set_bit(record_.keys_down, key);
        ++record_.key_presses[key];
    } else {
        clear_bit(record_.keys_down, key);
    }
}

void InputWriter::mouse_button(unsigned button, bool is_down) noexcept {
    if (button >= kInputMouseButtons) return;
    const std::uint32_t bit = std::uint32_t{1} << button;
    if (((record_.mouse.down & bit) != 0) == is_down) return;
    record_.mouse.down ^= bit;
    if (is_down) ++record_.mouse.presses[button];
}

void InputWriter::place_mouse(float x, float y) noexcept {
    record_.mouse.x = detail::finite(x);
    record_.mouse.y = detail::finite(y);
}

void InputWriter::move_mouse(float dx, float dy) noexcept {
    add_motion(record_.mouse.move_x, rests_[0], dx);
    add_motion(record_.mouse.move_y, rests_[1], dy);
}

void InputWriter::turn_wheel(float dx, float dy) noexcept {
    add_motion(record_.mouse.wheel_x, rests_[2], dx);
    add_motion(record_.mouse.wheel_y, rests_[3], dy);
}

void InputWriter::gamepad(unsigned index, std::uint32_t buttons, std::span<const float> axes) noexcept {
    if (index >= kInputGamepads) return;
    InputRecord::Gamepad& gamepad = record_.gamepads[index];
    gamepad = {.is_connected = 1, .down = buttons, .axes = {}};
    const std::size_t count = std::min<std::size_t>(axes.size(), kInputGamepadAxes);
    std::ranges::transform(axes.first(count), gamepad.axes.begin(), detail::finite);
}

void InputWriter::disconnect_gamepad(unsigned index) noexcept {
    if (index < kInputGamepads) record_.gamepads[index] = {};
}

void InputWriter::type(std::string_view utf8) noexcept {
    while (!utf8.empty()) {
        const auto [code_point, bytes] = detail::decode_utf8(utf8);
        type_code_point(code_point);
        utf8.remove_prefix(bytes);
    }
}

void InputWriter::type_code_point(char32_t code_point) noexcept {
    record_.text[record_.text_total % kInputTextLimit] = code_point;
    ++record_.text_total;
}

void InputWriter::release_all() noexcept {
    record_.keys_down = {};
    record_.mouse.down = 0;
    record_.gamepads = {};
}

void InputWriter::publish() noexcept {
    std::array<std::uint32_t, InputBlock::kWords> words;
    std::memcpy(words.data(), &record_, sizeof(record_));
    // A writer that died may have left it odd.
    const std::uint32_t sequence = block_->sequence.load(std::memory_order_relaxed) | 1U;
    block_->sequence.store(sequence, std::memory_order_relaxed);
    // No word below may become visible before the odd sequence does.
    std::atomic_thread_fence(std::memory_order_release);
    for (std::size_t index = 0; index < words.size(); ++index)
        block_->words[index].store(words[index], std::memory_order_relaxed);
    block_->sequence.store(sequence + 1, std::memory_order_release);
}

}  // namespace ouro
