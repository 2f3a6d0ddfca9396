#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ouro::detail {

// Writes text into memory of the caller. What does not fit is counted but not written; a zero always ends
// what was written, where there is room for one.
class TextWriter {
public:
    explicit TextWriter(std::span<char> out) noexcept : out_(out) {
        if (!out_.empty()) out_[0] = '\0';
    }

    TextWriter& add(std::string_view text) noexcept {
        const std::size_t room = length_ + 1 < out_.size() ? out_.size() - 1 - length_ : 0;
        const std::size_t count = std::min(room, text.size());
        std::copy_n(text.data(), count, out_.data() + (count == 0 ? 0 : length_));
        if (count != 0) out_[length_ + count] = '\0';
        length_ += text.size();
        return *this;
    }

    TextWriter& add(std::uint64_t number) noexcept {
        char digits[20];
        const auto end = std::to_chars(digits, digits + sizeof(digits), number);
        return add(std::string_view(digits, static_cast<std::size_t>(end.ptr - digits)));
    }

    TextWriter& add_hex(std::uint64_t number) noexcept {
        char digits[16];
        const auto end = std::to_chars(digits, digits + sizeof(digits), number, 16);
        return add(std::string_view(digits, static_cast<std::size_t>(end.ptr - digits)));
    }

    // With the largest binary unit that divides it: 16777216 is 16M.
    TextWriter& add_bytes(std::uint64_t bytes) noexcept {
        constexpr std::string_view kUnits[] = {"", "K", "M", "G"};
        std::size_t unit = 0;
        for (; unit < 3 && bytes != 0 && bytes % 1024 == 0; ++unit)
            bytes /= 1024;
        return add(bytes).add(kUnits[unit]);
    }

    // How long the whole text is, without the zero.
    [[nodiscard]] std::size_t length() const noexcept { return length_; }

private:
    std::span<char> out_;
    std::size_t length_ = 0;
};

}  // namespace ouro::detail
