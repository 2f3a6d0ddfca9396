#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace ouro::os {

// Numbers one after the other out of bytes that may say anything. What does not fit is zero, and so is all
// that comes after it; is_good() tells in the end.
class TableReader {
public:
    TableReader() noexcept = default;
    // From a position on, up to the end of the bytes.
    TableReader(std::span<const std::byte> bytes, std::uint64_t position) noexcept
        : bytes_(bytes),
          at_(position <= bytes.size() ? static_cast<std::size_t>(position) : bytes.size()),
          is_good_(position <= bytes.size()) {}

    [[nodiscard]] bool is_good() const noexcept { return is_good_; }
    [[nodiscard]] bool has_more() const noexcept { return is_good_ && at_ < bytes_.size(); }
    // In the bytes, not since the start.
    [[nodiscard]] std::size_t position() const noexcept { return at_; }
    [[nodiscard]] std::size_t left() const noexcept { return is_good_ ? bytes_.size() - at_ : 0; }

    // Only so many bytes from here on are to be read.
    void limit(std::uint64_t bytes) noexcept {
        if (bytes > left()) return fail();
        bytes_ = bytes_.first(at_ + static_cast<std::size_t>(bytes));
    }
    void skip(std::uint64_t bytes) noexcept {
        if (bytes > left()) return fail();
        at_ += static_cast<std::size_t>(bytes);
    }

    template <class Number>
    [[nodiscard]] Number take() noexcept {
        Number number{};
        if (sizeof(Number) > left()) {
            fail();
            return number;
        }
        std::memcpy(&number, bytes_.data() + at_, sizeof(Number));
        at_ += sizeof(Number);
        return number;
    }

    // Seven bits a byte, the lowest first; the sign is the last bit taken. More than 64 bits are cut.
    [[nodiscard]] std::uint64_t take_unsigned() noexcept { return take_groups().bits; }
    [[nodiscard]] std::int64_t take_signed() noexcept {
        Groups groups = take_groups();
        if (groups.is_negative && groups.count < kWordBits) groups.bits |= ~std::uint64_t{0} << groups.count;
        return static_cast<std::int64_t>(groups.bits);
    }

private:
    static constexpr unsigned kWordBits = 64;
    struct Groups {
        std::uint64_t bits = 0;
        unsigned count = 0;
        bool is_negative = false;
    };

    Groups take_groups() noexcept {
        Groups groups;
        for (;;) {
            const auto byte = take<std::uint8_t>();
            if (groups.count < kWordBits) {
                groups.bits |= std::uint64_t{byte & 0x7FU} << groups.count;
                groups.count += 7;
            }
            groups.is_negative = (byte & 0x40U) != 0;
            // Past the end, bytes are zero.
            if ((byte & 0x80U) == 0) return groups;
        }
    }
    void fail() noexcept { is_good_ = false; }

    std::span<const std::byte> bytes_;
    std::size_t at_ = 0;
    bool is_good_ = false;
};

}  // namespace ouro::os
