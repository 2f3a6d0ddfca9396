#include <ouro/ecs/input_block.hpp>

#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace {

using ouro::InputBlock;
using ouro::InputReader;
using ouro::InputRecord;
using ouro::InputState;
using ouro::InputWriter;
using ouro::kInputTextLimit;
using ouro::MemoryBlock;
using ouro::Status;

constexpr unsigned kKeyA = 4;

class InputBlockTest : public testing::Test {
protected:
    InputBlockTest()
        : writer(*InputWriter::create(memory())), reader(*InputReader::attach(memory().bytes())) {}

    [[nodiscard]] MemoryBlock memory() { return {bytes.data(), bytes.size()}; }
    [[nodiscard]] InputBlock& block() { return *reinterpret_cast<InputBlock*>(bytes.data()); }
    void publish_and_sample() {
        writer.publish();
        ASSERT_EQ(reader.sample(state), Status::ok);
    }
    [[nodiscard]] std::string typed() const {
        std::array<char, 4 * kInputTextLimit> text;
        return std::string(state.typed_utf8(text));
    }

    alignas(ouro::kInputBlockAlignment) std::array<std::byte, sizeof(InputBlock)> bytes{};
    InputWriter writer;
    InputReader reader;
    InputState state{};
};

TEST_F(InputBlockTest, KeysHaveEdges) {
    publish_and_sample();
    writer.key(kKeyA, true);
    publish_and_sample();
    EXPECT_TRUE(state.is_down(kKeyA) && state.was_pressed(kKeyA) && !state.was_released(kKeyA));
    writer.key(kKeyA, true);  // repeated by the system
    publish_and_sample();
    EXPECT_TRUE(state.is_down(kKeyA) && !state.was_pressed(kKeyA) && !state.was_released(kKeyA));
    writer.key(kKeyA, false);
    publish_and_sample();
    EXPECT_TRUE(!state.is_down(kKeyA) && !state.was_pressed(kKeyA) && state.was_released(kKeyA));
    publish_and_sample();
    EXPECT_FALSE(state.was_released(kKeyA));
}

TEST_F(InputBlockTest, TapsBetweenSamplesAreSeen) {
    publish_and_sample();
    writer.key(255, true);
    writer.key(255, false);
    writer.mouse_button(0, true);
    writer.mouse_button(0, false);
    publish_and_sample();
    EXPECT_TRUE(!state.is_down(255) && state.was_pressed(255) && state.was_released(255));
    EXPECT_EQ(state.mouse.down, 0);
    EXPECT_EQ(state.mouse.pressed, 1);
    EXPECT_EQ(state.mouse.released, 1);
    writer.key(255, true);
    publish_and_sample();
    EXPECT_TRUE(state.is_down(255) && state.was_pressed(255) && !state.was_released(255));
    writer.key(255, false);
    writer.key(255, true);
    publish_and_sample();
    EXPECT_TRUE(state.is_down(255) && state.was_pressed(255) && state.was_released(255));
}

TEST_F(InputBlockTest, MotionIsTheSumSinceTheLastSample) {
    writer.move_mouse(5, 5);
    publish_and_sample();
    EXPECT_EQ(state.mouse.moved_x, 0) << "a reader's first sample has no before";
    writer.place_mouse(10, 20);
    writer.move_mouse(1.5F, -2);
    writer.publish();
    writer.move_mouse(0.25F, 0);
    writer.turn_wheel(0, -1);
    publish_and_sample();
    EXPECT_EQ(state.mouse.x, 10);
    EXPECT_EQ(state.mouse.y, 20);
    EXPECT_EQ(state.mouse.moved_x, 1.75F);
    EXPECT_EQ(state.mouse.moved_y, -2);
    EXPECT_EQ(state.mouse.wheel_y, -1);
    publish_and_sample();
    EXPECT_EQ(state.mouse.moved_x, 0);
}

TEST_F(InputBlockTest, SmallMotionsAddUpAndTotalsWrapAround) {
    publish_and_sample();
    float sum = 0;
    for (int step = 0; step < 1000; ++step) {
        writer.move_mouse(1.0F / 1024, 60'000);
        publish_and_sample();
        sum += state.mouse.moved_x;
        ASSERT_EQ(state.mouse.moved_y, 60'000) << step;
    }
    EXPECT_EQ(sum, 250.0F / 256);
}

TEST_F(InputBlockTest, NumbersThatAreNoneBecomeZero) {
    publish_and_sample();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinite = std::numeric_limits<float>::infinity();
    writer.place_mouse(nan, infinite);
    writer.move_mouse(infinite, nan);
    writer.gamepad(0, 0, std::array{nan, 0.5F});
    publish_and_sample();
    EXPECT_EQ(state.mouse.x, 0);
    EXPECT_EQ(state.mouse.y, 0);
    EXPECT_EQ(state.mouse.moved_x, 0);
    EXPECT_EQ(state.gamepads[0].axes[0], 0);
    EXPECT_EQ(state.gamepads[0].axes[1], 0.5F);
    // From a writer that is not ours.
    constexpr std::size_t kMouseWord = offsetof(InputRecord, mouse) / 4;
    block().words[kMouseWord].store(0x7FC00001U);
    ASSERT_EQ(reader.sample(state), Status::ok);
    EXPECT_EQ(state.mouse.x, 0);
}

TEST_F(InputBlockTest, GamepadsComeAndGo) {
    writer.gamepad(3, 5, std::array{0.25F, -1.0F});
    publish_and_sample();
    EXPECT_EQ(state.gamepads[3].is_connected, 1U);
    EXPECT_EQ(state.gamepads[3].pressed, 5U);
    EXPECT_EQ(state.gamepads[3].axes[1], -1.0F);
    writer.gamepad(3, 6, {});
    publish_and_sample();
    EXPECT_EQ(state.gamepads[3].pressed, 2U);
    EXPECT_EQ(state.gamepads[3].released, 1U);
    writer.disconnect_gamepad(3);
    publish_and_sample();
    EXPECT_EQ(state.gamepads[3].is_connected, 0U);
    EXPECT_EQ(state.gamepads[3].released, 6U);
}

TEST_F(InputBlockTest, WhatIsNotThereIsIgnored) {
    publish_and_sample();
    const InputState before = state;
    writer.key(256, true);
    writer.mouse_button(16, true);
    writer.gamepad(4, 1, {});
    writer.disconnect_gamepad(4);
    publish_and_sample();
    EXPECT_EQ(std::memcmp(&before, &state, sizeof(state)), 0);
}

TEST_F(InputBlockTest, TextIsTypedOnce) {
    publish_and_sample();
    writer.type("Zo\xC3\xAB \xE2\x82\xAC \xF0\x9F\x90\x8D");
    publish_and_sample();
    EXPECT_EQ(typed(), "Zo\xC3\xAB \xE2\x82\xAC \xF0\x9F\x90\x8D");
    EXPECT_EQ(state.text_count, 7U);
    EXPECT_EQ(state.text[2], U'\u00EB');
    publish_and_sample();
    EXPECT_EQ(typed(), "");
    EXPECT_EQ(state.text[0], U'\0');
}

TEST_F(InputBlockTest, TextBeyondTheRingIsCounted) {
    publish_and_sample();
    for (unsigned index = 0; index < kInputTextLimit + 10; ++index)
        writer.type(index < 10 ? "a" : "b");
    publish_and_sample();
    EXPECT_EQ(state.text_dropped, 10U);
    EXPECT_EQ(typed(), std::string(kInputTextLimit, 'b'));
}

TEST_F(InputBlockTest, BytesThatAreNoTextAreReplaced) {
    publish_and_sample();
    // A lone following byte, an overlong slash, a surrogate, one beyond the last, one cut off.
    for (const std::string_view bad : {"\x80", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"}) {
        writer.type(bad);
        publish_and_sample();
        EXPECT_EQ(state.text_count, bad.size()) << bad.size();
        for (const char32_t code_point : state.typed())
            EXPECT_EQ(code_point, U'\uFFFD');
    }
    std::array<char, 5> small;
    EXPECT_EQ(state.typed_utf8(small).size(), 3U) << "whole characters only";
}

TEST_F(InputBlockTest, EdgesFitToTheStateAfterARollback) {
    publish_and_sample();
    const InputState past = state;
    writer.key(kKeyA, true);
    publish_and_sample();
    publish_and_sample();
    state = past;
    publish_and_sample();
    EXPECT_TRUE(state.is_down(kKeyA) && state.was_pressed(kKeyA));
    InputState held = state;
    writer.key(kKeyA, false);
    publish_and_sample();
    state = held;
    publish_and_sample();
    EXPECT_TRUE(!state.is_down(kKeyA) && state.was_released(kKeyA));
}

TEST_F(InputBlockTest, EveryReaderSeesEverything) {
    auto other = *InputReader::attach(memory().bytes());
    InputState others{};
    publish_and_sample();
    ASSERT_EQ(other.sample(others), Status::ok);
    for (int step = 0; step < 3; ++step) {
        writer.move_mouse(1, 0);
        writer.type("t");
        publish_and_sample();
        EXPECT_EQ(state.mouse.moved_x, 1);
    }
    ASSERT_EQ(other.sample(others), Status::ok);
    EXPECT_EQ(others.mouse.moved_x, 3);
    EXPECT_EQ(others.text_count, 3U);
}

TEST_F(InputBlockTest, AWriterThatDiedIsBusyUntilAnotherTakesOver) {
    writer.key(kKeyA, true);
    writer.type("abc");
    publish_and_sample();
    block().sequence.fetch_add(1);
    const InputState before = state;
    EXPECT_EQ(reader.sample(state), Status::busy);
    EXPECT_EQ(std::memcmp(&before, &state, sizeof(state)), 0);
    state.forget_events();
    EXPECT_TRUE(state.is_down(kKeyA) && !state.was_pressed(kKeyA));
    auto next = InputWriter::take_over(memory());
    ASSERT_TRUE(next);
    ASSERT_EQ(reader.sample(state), Status::ok);
    EXPECT_TRUE(!state.is_down(kKeyA) && state.was_released(kKeyA));
    EXPECT_EQ(state.text_count, 0U) << "what was typed before is not typed again";
    next->type("d");
    next->publish();
    ASSERT_EQ(reader.sample(state), Status::ok);
    EXPECT_EQ(typed(), "d");
}

TEST_F(InputBlockTest, ForeignMemoryIsRefused) {
    EXPECT_EQ(InputReader::attach(memory().bytes().first(sizeof(InputBlock) - 1)).status(),
              Status::out_of_range);
    EXPECT_EQ(InputWriter::create({bytes.data(), 10}).status(), Status::capacity_exhausted);
    alignas(64) std::array<std::byte, sizeof(InputBlock) + 64> other{};
    EXPECT_EQ(InputReader::attach(other).status(), Status::wrong_format);
    EXPECT_EQ(InputWriter::take_over({other.data(), other.size()}).status(), Status::wrong_format);
    EXPECT_EQ(InputReader::attach(std::span(other).subspan(4)).status(), Status::bad_alignment);
    EXPECT_EQ(InputWriter::create({other.data() + 4, sizeof(InputBlock)}).status(), Status::bad_alignment);
    block().version = 2;
    EXPECT_EQ(InputReader::attach(memory().bytes()).status(), Status::wrong_format);
}

// The bytes as the table in the guide says: what JavaScript reads and writes.
TEST_F(InputBlockTest, BytesLieWhereTheGuideSays) {
    writer.key(9, true);
    writer.place_mouse(1, 2);
    writer.move_mouse(3, 4);
    writer.turn_wheel(5, 6);
    writer.mouse_button(2, true);
    writer.gamepad(1, 7, std::array{8.0F});
    writer.type("a");
    writer.publish();
    const auto word = [&](std::size_t offset) {
        std::uint32_t value = 0;
        std::memcpy(&value, bytes.data() + offset, sizeof(value));
        return value;
    };
    EXPECT_EQ(std::memcmp(bytes.data(), "ouroinp", 8), 0);
    EXPECT_EQ(word(8), 1U);
    EXPECT_EQ(word(12), 760U);
    EXPECT_EQ(word(16), 2U);
    EXPECT_EQ(word(64), 1U << 9);
    EXPECT_EQ(bytes[96 + 9], std::byte{1});
    EXPECT_EQ(word(352), 0x3F800000U);
    EXPECT_EQ(word(356), 0x40000000U);
    EXPECT_EQ(word(360), 3U * 256);
    EXPECT_EQ(word(364), 4U * 256);
    EXPECT_EQ(word(368), 5U * 256);
    EXPECT_EQ(word(372), 6U * 256);
    EXPECT_EQ(word(376), 4U);
    EXPECT_EQ(bytes[384 + 2], std::byte{1});
    EXPECT_EQ(word(440), 1U);
    EXPECT_EQ(word(444), 7U);
    EXPECT_EQ(word(448), 0x41000000U);
    EXPECT_EQ(word(560), 1U);
    EXPECT_EQ(word(568), std::uint32_t{U'a'});
}

}  // namespace
