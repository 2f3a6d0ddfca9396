#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/ecs/input_state.hpp>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// Input on its way from whoever gets it (a window's thread, the page of a browser, another process) to the
// ticks. One writer publishes into a block of shared memory, outside the hashed image; any number of readers
// take consistent copies, and the writer never waits for them.
//
//     auto writer = InputWriter::create(memory);        auto reader = InputReader::attach(memory);
//     writer->key(4, true);                             reader->sample(*input);   // once a tick
//     writer->publish();                                if (input->was_pressed(4)) ...
namespace ouro {

// What is published. Fixed-width, little-endian, without padding: JavaScript writes the same bytes. Motion
// and text are running totals and presses are counted, so that no reader needs to tell the writer what it has
// seen.
struct InputRecord {
    struct Mouse {
        float x;
        float y;
        // Totals in 1/256, which wrap around.
        std::int32_t move_x;
        std::int32_t move_y;
        std::int32_t wheel_x;
        std::int32_t wheel_y;
        std::uint32_t down;
        std::uint32_t unused;
        // How often each button went down, modulo 256.
        std::array<std::uint8_t, kInputMouseButtons> presses;
    };
    struct Gamepad {
        std::uint32_t is_connected;
        std::uint32_t down;
        std::array<float, kInputGamepadAxes> axes;
    };

    InputKeys keys_down;
    // How often each key went down, modulo 256.
    std::array<std::uint8_t, kInputKeys> key_presses;
    Mouse mouse;
    std::array<Gamepad, kInputGamepads> gamepads;
    // How many code points were ever typed, modulo 2^32. The one with number n stands in text[n % limit].
    std::uint32_t text_total;
    std::uint32_t unused;
    std::array<char32_t, kInputTextLimit> text;
};

// The block in shared memory. The sequence is odd while the writer writes.
struct InputBlock {
    static constexpr std::array<char, 8> kMagic = {'o', 'u', 'r', 'o', 'i', 'n', 'p', '\0'};
    static constexpr std::uint32_t kVersion = 1;
    static constexpr std::size_t kWords = sizeof(InputRecord) / sizeof(std::uint32_t);

    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint32_t record_bytes;
    std::atomic<std::uint32_t> sequence;
    std::array<std::uint32_t, 11> unused;
    // An InputRecord.
    std::array<std::atomic<std::uint32_t>, kWords> words;
    std::array<std::uint32_t, 2> unused_end;
};

inline constexpr std::size_t kInputBlockAlignment = 64;

// docs/ecs-shared.md has this table for JavaScript.
static_assert(std::endian::native == std::endian::little);
static_assert(SimValue<InputRecord> && sizeof(InputRecord) == 760);
static_assert(offsetof(InputRecord, key_presses) == 32 && offsetof(InputRecord, mouse) == 288 &&
              offsetof(InputRecord, gamepads) == 336 && offsetof(InputRecord, text_total) == 496 &&
              offsetof(InputRecord, text) == 504);
static_assert(sizeof(InputRecord::Mouse) == 48 && offsetof(InputRecord::Mouse, move_x) == 8 &&
              offsetof(InputRecord::Mouse, wheel_x) == 16 && offsetof(InputRecord::Mouse, down) == 24 &&
              offsetof(InputRecord::Mouse, presses) == 32);
static_assert(sizeof(InputRecord::Gamepad) == 40 && offsetof(InputRecord::Gamepad, axes) == 8);
static_assert(sizeof(InputBlock) == 832 && alignof(InputBlock) == 4 && offsetof(InputBlock, version) == 8 &&
              offsetof(InputBlock, record_bytes) == 12 && offsetof(InputBlock, sequence) == 16 &&
              offsetof(InputBlock, words) == 64);
// Else it would not work between processes.
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

// Publishes input. Collects what it is told, and publish() shows all of it at once. One thread at a time, and
// one writer a block.
class InputWriter {
public:
    // A new block at the beginning of the memory. Fails with capacity_exhausted (fewer bytes than an
    // InputBlock has) and bad_alignment (not aligned to kInputBlockAlignment).
    [[nodiscard]] static Expected<InputWriter> create(MemoryBlock memory) noexcept;
    // Goes on with a block whose writer has ended, or died, if in the middle of a write. Nothing is down and
    // no gamepad connected at first; readers learn that at once. Fails as InputReader::attach does. Requires:
    // that writer is gone.
    [[nodiscard]] static Expected<InputWriter> take_over(MemoryBlock memory) noexcept;

    // Keys and buttons that are not there are ignored: devices have more of them than we do. A key that is
    // down already and goes down again (the system repeats it) is not pressed again.
    void key(unsigned key, bool is_down) noexcept;
    void mouse_button(unsigned button, bool is_down) noexcept;
    // Numbers that are not finite count as zero.
    void place_mouse(float x, float y) noexcept;
    void move_mouse(float dx, float dy) noexcept;
    void turn_wheel(float dx, float dy) noexcept;
    // As the gamepad is now. Axes that are not given are zero.
    void gamepad(unsigned index, std::uint32_t buttons, std::span<const float> axes) noexcept;
    void disconnect_gamepad(unsigned index) noexcept;
    // Adds text; bytes that are no UTF-8 become U+FFFD.
    void type(std::string_view utf8) noexcept;
    // When the window loses the keyboard: nobody tells of keys that go up elsewhere.
    void release_all() noexcept;

    // What was told since the last time becomes visible, all of it or nothing. Never waits.
    void publish() noexcept;

private:
    explicit InputWriter(InputBlock* block) noexcept : block_(block) {}

    void type_code_point(char32_t code_point) noexcept;

    InputBlock* block_;
    InputRecord record_{};
    // What was moved and is less than a step.
    std::array<float, 4> rests_{};
};

// Takes copies of what is published, from any thread or process: each reader has its own idea of what is new.
// It reads only, so the memory may be mapped read-only. One thread at a time.
class InputReader {
public:
    // How often a copy is tried again when the writer wrote meanwhile.
    static constexpr unsigned kTries = 256;

    // Fails with out_of_range (the memory is too small), bad_alignment and wrong_format (no input block, or
    // of another version).
    [[nodiscard]] static Expected<InputReader> attach(std::span<const std::byte> memory) noexcept;

    // Makes the state of the last tick that of the next. Held keys are compared with those of the state, so
    // that what is pressed and released fits to it after a rollback, too; motion, text, and keys that went
    // down and up in between come from what this reader has not seen yet. The first sample of a reader has
    // none of those. Fails with busy, when the writer was in the middle of a write each time: stopped for
    // long, or dead; then the state is as it was, and forget_events() makes it that of a quiet tick.
    Status sample(InputState& state) noexcept;

    // A consistent copy of what is published now; busy as above.
    Status read(InputRecord& out) const noexcept;

private:
    explicit InputReader(const InputBlock* block) noexcept : block_(block) {}

    const InputBlock* block_;
    InputRecord last_{};
    bool has_sampled_ = false;
};

}  // namespace ouro
