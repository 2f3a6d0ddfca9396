#include "input_format.hpp"

#include <ouro/base/align.hpp>
#include <ouro/ecs/input_block.hpp>
#include <ouro/os/thread.hpp>

#include <algorithm>
#include <cstring>

namespace ouro {
namespace {

// Others get a chance to end what they are at.
constexpr unsigned kTriesBetweenYields = 16;

float moved(std::int32_t before, std::int32_t now) noexcept {
    const auto steps =
        static_cast<std::int32_t>(static_cast<std::uint32_t>(now) - static_cast<std::uint32_t>(before));
    return static_cast<float>(steps) / detail::kInputSteps;
}

// What changed of things that are held down, each a bit.
struct Edges {
    std::uint64_t pressed = 0;
    std::uint64_t released = 0;
};

Edges edges_of(std::uint64_t before, std::uint64_t now) noexcept {
    return {now & ~before, before & ~now};
}

// Adds those that went down and up since the reader looked last, by their counts.
void add_taps(Edges& edges, std::span<const std::uint8_t> last, std::span<const std::uint8_t> presses,
              std::uint64_t last_down, std::uint64_t down) noexcept {
    for (std::size_t index = 0; index < presses.size(); ++index) {
        if (presses[index] == last[index]) continue;
        const std::uint64_t bit = std::uint64_t{1} << index;
        const auto count = static_cast<std::uint8_t>(presses[index] - last[index]);
        const unsigned releases = count + unsigned{(last_down & bit) != 0} - unsigned{(down & bit) != 0};
        edges.pressed |= bit;
        if (releases != 0) edges.released |= bit;
    }
}

void sample_keys(InputState& state, const InputRecord& last, const InputRecord& now) noexcept {
    constexpr std::size_t kBits = 64;
    for (std::size_t word = 0; word < now.keys_down.size(); ++word) {
        Edges edges = edges_of(state.keys_down[word], now.keys_down[word]);
        add_taps(edges, std::span(last.key_presses).subspan(word * kBits, kBits),
                 std::span(now.key_presses).subspan(word * kBits, kBits), last.keys_down[word],
                 now.keys_down[word]);
        state.keys_down[word] = now.keys_down[word];
        state.keys_pressed[word] = edges.pressed;
        state.keys_released[word] = edges.released;
    }
}

void sample_mouse(InputMouse& mouse, const InputRecord::Mouse& last, const InputRecord::Mouse& now) noexcept {
    Edges edges = edges_of(mouse.down, now.down);
    add_taps(edges, last.presses, now.presses, last.down, now.down);
    mouse = {.x = detail::finite(now.x),
             .y = detail::finite(now.y),
             .moved_x = moved(last.move_x, now.move_x),
             .moved_y = moved(last.move_y, now.move_y),
             .wheel_x = moved(last.wheel_x, now.wheel_x),
             .wheel_y = moved(last.wheel_y, now.wheel_y),
             .down = static_cast<std::uint16_t>(now.down),
             .pressed = static_cast<std::uint16_t>(edges.pressed),
             .released = static_cast<std::uint16_t>(edges.released),
             .unused = 0};
}

void sample_gamepad(InputGamepad& gamepad, const InputRecord::Gamepad& now) noexcept {
    const bool is_connected = now.is_connected != 0;
    const std::uint32_t down = is_connected ? now.down : 0;
    const Edges edges = edges_of(gamepad.down, down);
    gamepad = {.axes = {},
               .down = down,
               .pressed = static_cast<std::uint32_t>(edges.pressed),
               .released = static_cast<std::uint32_t>(edges.released),
               .is_connected = is_connected ? 1U : 0U};
    if (is_connected) std::ranges::transform(now.axes, gamepad.axes.begin(), detail::finite);
}

void sample_text(InputState& state, std::uint32_t last_total, const InputRecord& now) noexcept {
    const std::uint32_t typed = now.text_total - last_total;
    const std::uint32_t count = std::min<std::uint32_t>(typed, kInputTextLimit);
    state.text = {};
    state.text_count = count;
    state.text_dropped = typed - count;
    for (std::uint32_t index = 0; index < count; ++index) {
        const char32_t code_point = now.text[(now.text_total - count + index) % kInputTextLimit];
        state.text[index] = detail::is_character(code_point) ? code_point : detail::kNoCharacter;
    }
}

}  // namespace

Expected<const InputBlock*> detail::find_input_block(std::span<const std::byte> memory) noexcept {
    if (memory.size() < sizeof(InputBlock)) return Status::out_of_range;
    if (!is_aligned(memory.data(), kInputBlockAlignment)) return Status::bad_alignment;
    const auto* const block = reinterpret_cast<const InputBlock*>(memory.data());
    const bool is_known = block->magic == InputBlock::kMagic && block->version == InputBlock::kVersion &&
                          block->record_bytes == sizeof(InputRecord);
    if (!is_known) return Status::wrong_format;
    return block;
}

Expected<InputReader> InputReader::attach(std::span<const std::byte> memory) noexcept {
    const auto block = detail::find_input_block(memory);
    if (!block) return block.status();
    return InputReader(*block);
}

Status InputReader::read(InputRecord& out) const noexcept {
    std::array<std::uint32_t, InputBlock::kWords> words;
    for (unsigned tries = 1; tries <= kTries; ++tries) {
        const std::uint32_t sequence = block_->sequence.load(std::memory_order_acquire);
        if ((sequence & 1U) == 0) {
            for (std::size_t index = 0; index < words.size(); ++index)
                words[index] = block_->words[index].load(std::memory_order_relaxed);
            // The sequence is read again only after all words are.
            std::atomic_thread_fence(std::memory_order_acquire);
            if (block_->sequence.load(std::memory_order_relaxed) == sequence) {
                std::memcpy(&out, words.data(), sizeof(out));
                return Status::ok;
            }
        }
        if (tries % kTriesBetweenYields == 0)
            os::yield_thread();
        else
            os::spin_pause();
    }
    return Status::busy;
}

Status InputReader::sample(InputState& state) noexcept {
    InputRecord now;
    if (const Status status = read(now); status != Status::ok) return status;
    if (!has_sampled_) last_ = now;
    sample_keys(state, last_, now);
    sample_mouse(state.mouse, last_.mouse, now.mouse);
    for (unsigned index = 0; index < kInputGamepads; ++index)
        sample_gamepad(state.gamepads[index], now.gamepads[index]);
    sample_text(state, last_.text_total, now);
    last_ = now;
    has_sampled_ = true;
    return Status::ok;
}

}  // namespace ouro
