#include "frame_program.hpp"

#include <array>

namespace ouro::os {
namespace {

// Registers by their numbers in tables.
constexpr std::uint64_t kFramePointer = 6;
constexpr std::uint64_t kStackPointer = 7;
constexpr std::uint64_t kReturnAddress = 16;

constexpr std::int64_t kWord = sizeof(std::uint64_t);

// The instructions, by what DWARF calls them (DW_CFA_...). The first three carry a number in their low bits.
enum Instruction : std::uint8_t {
    kAdvance = 0x40,
    kOffset = 0x80,
    kRestore = 0xC0,
    kNothing = 0x00,
    kAdvance1 = 0x02,
    kAdvance2 = 0x03,
    kAdvance4 = 0x04,
    kOffsetExtended = 0x05,
    kRestoreExtended = 0x06,
    kUndefined = 0x07,
    kSameValue = 0x08,
    kRegister = 0x09,
    kRememberState = 0x0A,
    kRestoreState = 0x0B,
    kDefineEnd = 0x0C,
    kDefineEndRegister = 0x0D,
    kDefineEndOffset = 0x0E,
    kDefineEndExpression = 0x0F,
    kExpression = 0x10,
    kOffsetExtendedSigned = 0x11,
    kDefineEndSigned = 0x12,
    kDefineEndOffsetSigned = 0x13,
    kValueOffset = 0x14,
    kValueOffsetSigned = 0x15,
    kValueExpression = 0x16,
    kArgumentsSize = 0x2E,
};
constexpr std::uint8_t kLowBits = 0x3F;

// The two expressions that compilers write for a frame that they align: "the word at", "the frame pointer
// plus".
constexpr std::uint8_t kDereference = 0x06;
constexpr std::uint8_t kFramePlus = 0x76;

class Program {
public:
    Program(TableReader reader, const ProgramUnits& units, std::uint64_t start, FrameRow& row) noexcept
        : reader_(reader), units_(units), at_(start), initial_(row), row_(row) {}

    bool run_to(std::uint64_t address) noexcept {
        while (reader_.has_more() && at_ <= address && is_understood_)
            step(reader_.take<std::uint8_t>());
        return reader_.is_good() && is_understood_;
    }

private:
    void step(std::uint8_t code) noexcept {
        const std::uint8_t low = code & kLowBits;
        switch (code & ~kLowBits) {
            case kAdvance:
                return advance(low);
            case kOffset:
                return save(low, product(reader_.take_unsigned()));
            case kRestore:
                return restore(low);
            default:
                break;
        }
        if (!move(code) && !define_end(code) && !place_register(code)) is_understood_ = false;
    }

    // Those that change where the program is, and which row it writes.
    bool move(std::uint8_t code) noexcept {
        switch (code) {
            case kNothing:
                break;
            case kAdvance1:
                advance(reader_.take<std::uint8_t>());
                break;
            case kAdvance2:
                advance(reader_.take<std::uint16_t>());
                break;
            case kAdvance4:
                advance(reader_.take<std::uint32_t>());
                break;
            case kArgumentsSize:
                static_cast<void>(reader_.take_unsigned());
                break;
            case kRememberState:
                if (depth_ == remembered_.size()) return false;
                remembered_[depth_++] = row_;
                break;
            case kRestoreState:
                if (depth_ == 0) return false;
                row_ = remembered_[--depth_];
                break;
            default:
                return false;
        }
        return true;
    }

    bool define_end(std::uint8_t code) noexcept {
        switch (code) {
            case kDefineEnd:
                row_.end_register = reader_.take_unsigned();
                row_.end_offset = static_cast<std::int64_t>(reader_.take_unsigned());
                break;
            case kDefineEndSigned:
                row_.end_register = reader_.take_unsigned();
                row_.end_offset = product(reader_.take_signed());
                break;
            case kDefineEndRegister:
                row_.end_register = reader_.take_unsigned();
                break;
            case kDefineEndOffset:
                row_.end_offset = static_cast<std::int64_t>(reader_.take_unsigned());
                return true;
            case kDefineEndOffsetSigned:
                row_.end_offset = product(reader_.take_signed());
                return true;
            case kDefineEndExpression:
                define_end_by_expression();
                return true;
            default:
                return false;
        }
        row_.end = FrameRow::EndKind::from_register;
        return true;
    }

    // Of the registers, two matter; the rest of what is said is read over.
    bool place_register(std::uint8_t code) noexcept {
        const std::uint64_t number = reader_.take_unsigned();
        switch (code) {
            case kOffsetExtended:
                save(number, product(reader_.take_unsigned()));
                break;
            case kOffsetExtendedSigned:
                save(number, product(reader_.take_signed()));
                break;
            case kRestoreExtended:
                restore(number);
                break;
            case kUndefined:
                place(number, {SavedPlace::undefined});
                break;
            case kSameValue:
                place(number, {SavedPlace::unchanged});
                break;
            case kRegister:
            case kValueOffset:
            case kValueOffsetSigned:
                // As many bytes with a sign as without.
                static_cast<void>(reader_.take_unsigned());
                place(number, {SavedPlace::elsewhere});
                break;
            case kExpression:
                save_by_expression(number);
                break;
            case kValueExpression:
                static_cast<void>(take_expression());
                place(number, {SavedPlace::elsewhere});
                break;
            default:
                return false;
        }
        return true;
    }

    void advance(std::uint64_t steps) noexcept { at_ += steps * units_.code; }

    // Numbers of tables may be anything; what they come to is looked at in the end.
    [[nodiscard]] std::int64_t product(std::uint64_t number) const noexcept {
        return static_cast<std::int64_t>(number * static_cast<std::uint64_t>(units_.data));
    }
    [[nodiscard]] std::int64_t product(std::int64_t number) const noexcept {
        return product(static_cast<std::uint64_t>(number));
    }

    void place(std::uint64_t number, SavedRegister saved) noexcept {
        if (number == kFramePointer) row_.frame_pointer = saved;
        if (number == kReturnAddress) row_.return_address = saved;
        // A caller's stack pointer that is not the frame's end.
        if (number == kStackPointer && saved.place != SavedPlace::unchanged) is_understood_ = false;
    }
    void save(std::uint64_t number, std::int64_t offset) noexcept {
        place(number, {SavedPlace::below_end, offset});
    }
    void restore(std::uint64_t number) noexcept {
        if (number == kFramePointer) row_.frame_pointer = initial_.frame_pointer;
        if (number == kReturnAddress) row_.return_address = initial_.return_address;
    }

    TableReader take_expression() noexcept {
        const std::uint64_t size = reader_.take_unsigned();
        TableReader expression = reader_;
        expression.limit(size);
        reader_.skip(size);
        return expression;
    }

    void define_end_by_expression() noexcept {
        TableReader expression = take_expression();
        const bool is_frame_plus = expression.take<std::uint8_t>() == kFramePlus;
        row_.saved_end_offset = expression.take_signed();
        const bool is_word_there = expression.take<std::uint8_t>() == kDereference;
        const bool is_known = is_frame_plus && is_word_there && expression.left() == 0;
        row_.end =
            is_known && expression.is_good() ? FrameRow::EndKind::saved_in_frame : FrameRow::EndKind::unknown;
    }

    void save_by_expression(std::uint64_t number) noexcept {
        TableReader expression = take_expression();
        const bool is_frame_plus = expression.take<std::uint8_t>() == kFramePlus;
        const bool is_at_frame = is_frame_plus && expression.take_signed() == 0 && expression.left() == 0;
        place(number, {is_at_frame && expression.is_good() ? SavedPlace::at_frame : SavedPlace::elsewhere});
    }

    TableReader reader_;
    const ProgramUnits& units_;
    std::uint64_t at_;
    const FrameRow initial_;
    FrameRow& row_;
    // More than compilers nest.
    std::array<FrameRow, 8> remembered_;
    std::size_t depth_ = 0;
    bool is_understood_ = true;
};

// In words, when it is some, and no more than that many.
bool to_words(std::int64_t bytes, std::uint64_t most, std::uint64_t& words) noexcept {
    if (bytes < 0 || bytes % kWord != 0) return false;
    words = static_cast<std::uint64_t>(bytes / kWord);
    return words <= most;
}

bool to_words_below(std::int64_t bytes, std::uint64_t most, std::uint64_t& words) noexcept {
    // Where a negation would overflow, it would be too many.
    constexpr std::int64_t kFarBelow = -(std::int64_t{1} << 32);
    return bytes > kFarBelow && to_words(-bytes, most, words);
}

bool place_end(const FrameRow& row, FrameRule& rule) noexcept {
    std::uint64_t words = 0;
    if (row.end == FrameRow::EndKind::saved_in_frame) {
        if (!to_words_below(row.saved_end_offset, FrameRule::kMostOffset, words)) return false;
        rule.end = FrameEnd::saved_in_frame;
        rule.offset = static_cast<std::uint16_t>(words);
        return row.frame_pointer.place == SavedPlace::at_frame;
    }
    if (row.end != FrameRow::EndKind::from_register) return false;
    if (row.end_register != kStackPointer && row.end_register != kFramePointer) return false;
    if (!to_words(row.end_offset, FrameRule::kMostOffset, words) || words == 0) return false;
    rule.end = row.end_register == kStackPointer ? FrameEnd::from_stack : FrameEnd::from_frame;
    rule.offset = static_cast<std::uint16_t>(words);
    return true;
}

bool place_frame_pointer(const FrameRow& row, FrameRule& rule) noexcept {
    const SavedRegister& saved = row.frame_pointer;
    // A caller that has no use for it may have left anything in it.
    if (saved.place == SavedPlace::unchanged || saved.place == SavedPlace::undefined) return true;
    if (saved.place == SavedPlace::at_frame) return rule.end == FrameEnd::saved_in_frame;
    if (saved.place != SavedPlace::below_end || saved.offset >= 0) return false;
    std::uint64_t words = 0;
    if (!to_words_below(saved.offset, FrameRule::kMostSaved, words)) return false;
    rule.saved_frame = static_cast<std::uint8_t>(words);
    return true;
}

}  // namespace

bool run_frame_program(TableReader program, const ProgramUnits& units, std::uint64_t start,
                       std::uint64_t address, FrameRow& row) noexcept {
    return Program(program, units, start, row).run_to(address);
}

FrameRule rule_of(const FrameRow& row) noexcept {
    if (row.return_address.place == SavedPlace::undefined) return {.kind = FrameKind::outermost};
    FrameRule rule{.kind = FrameKind::called};
    const bool is_usual =
        row.return_address.place == SavedPlace::below_end && row.return_address.offset == -kWord;
    if (is_usual && place_end(row, rule) && place_frame_pointer(row, rule)) return rule;
    return {.kind = FrameKind::unsupported};
}

}  // namespace ouro::os
