#pragma once

#include <cstdint>

namespace ouro::os {

enum class FrameKind : std::uint8_t {
    unknown,
    // A caller can be found by the rule.
    called,
    // Nobody called it, or nobody can tell who.
    outermost,
    // It takes more than a rule.
    unsupported,
};

// What the end of a frame, where the caller's begins, is told from.
enum class FrameEnd : std::uint8_t {
    // The stack pointer plus an offset, or the frame pointer plus one.
    from_stack,
    from_frame,
    // A word below where the frame pointer points, which is itself the place of the caller's frame pointer: a
    // frame that was aligned to more than its caller's.
    saved_in_frame,
};

// How to find a function's caller at one address of it. Where the call returns to is always the word below
// the frame's end.
struct FrameRule {
    FrameKind kind = FrameKind::unknown;
    FrameEnd end = FrameEnd::from_stack;
    // In words. Downwards for a saved one.
    std::uint16_t offset = 0;
    // How many words below the end the caller's frame pointer lies; zero: it is still where it was.
    std::uint8_t saved_frame = 0;

    static constexpr unsigned kEndBits = 2;
    static constexpr unsigned kOffsetBits = 15;
    static constexpr unsigned kSavedBits = 6;
    static constexpr unsigned kBits = 2 + kEndBits + kOffsetBits + kSavedBits;

    static constexpr std::uint64_t kMostOffset = (std::uint64_t{1} << kOffsetBits) - 1;
    static constexpr std::uint64_t kMostSaved = (std::uint64_t{1} << kSavedBits) - 1;

    // In kBits; never zero for a rule that is known.
    [[nodiscard]] constexpr std::uint64_t to_bits() const noexcept {
        std::uint64_t bits = saved_frame;
        bits = bits << kOffsetBits | offset;
        bits = bits << kEndBits | static_cast<std::uint64_t>(end);
        return bits << 2 | static_cast<std::uint64_t>(kind);
    }
    [[nodiscard]] static constexpr FrameRule from_bits(std::uint64_t bits) noexcept {
        FrameRule rule;
        rule.kind = static_cast<FrameKind>(bits & 3U);
        bits >>= 2;
        rule.end = static_cast<FrameEnd>(bits & ((1U << kEndBits) - 1));
        bits >>= kEndBits;
        rule.offset = static_cast<std::uint16_t>(bits & kMostOffset);
        rule.saved_frame = static_cast<std::uint8_t>(bits >> kOffsetBits & kMostSaved);
        return rule;
    }

    friend constexpr bool operator==(const FrameRule&, const FrameRule&) = default;
};

}  // namespace ouro::os
