#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/sim_value.hpp>

#include <algorithm>
#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace ouro {

// A text of up to kCapacity characters in the value itself: its bytes can be copied, saved and compared, and
// equal texts have equal bytes, as what lies behind the text is zero.
//
//     FixedString<15> name = "Ada";
//     if (name.append(" Lovelace") != Status::ok) ...   // too long: as it was
template <std::size_t kCapacity>
class FixedString {
    static_assert(kCapacity > 0 && kCapacity <= UINT16_MAX, "a fixed string has 1 to 65535 characters");
    using Size = std::conditional_t<kCapacity <= UINT8_MAX, std::uint8_t, std::uint16_t>;
    static_assert(kCapacity % sizeof(Size) == 0, "use an even capacity: an odd one leaves a byte of padding");

public:
    constexpr FixedString() noexcept = default;

    // A literal, which must fit.
    template <std::size_t kLength>
    constexpr FixedString(const char (&literal)[kLength]) noexcept {
        static_assert(kLength <= kCapacity + 1, "the text is longer than the string");
        size_ = static_cast<Size>(kLength - 1);
        std::copy_n(literal, kLength - 1, text_.data());
    }

    // capacity_exhausted when the text is too long.
    [[nodiscard]] static constexpr Expected<FixedString> from(std::string_view text) noexcept {
        FixedString made;
        if (const Status status = made.assign(text); status != Status::ok) return status;
        return made;
    }

    // capacity_exhausted when the text is too long, and the string is as it was. The text may be its own.
    constexpr Status assign(std::string_view text) noexcept {
        if (text.size() > kCapacity) return Status::capacity_exhausted;
        FixedString other;
        other.size_ = static_cast<Size>(text.size());
        std::copy_n(text.data(), text.size(), other.text_.data());
        *this = other;
        return Status::ok;
    }

    constexpr Status append(std::string_view text) noexcept {
        if (text.size() > kCapacity - size()) return Status::capacity_exhausted;
        FixedString other = *this;
        std::copy_n(text.data(), text.size(), other.text_.data() + size());
        other.size_ = static_cast<Size>(size() + text.size());
        *this = other;
        return Status::ok;
    }

    constexpr void clear() noexcept { *this = {}; }

    [[nodiscard]] static constexpr std::size_t capacity() noexcept { return kCapacity; }
    // Never more than the capacity, whatever the bytes say that were read from somewhere.
    [[nodiscard]] constexpr std::size_t size() const noexcept {
        return std::min<std::size_t>(size_, kCapacity);
    }
    [[nodiscard]] constexpr bool is_empty() const noexcept { return size() == 0; }
    [[nodiscard]] constexpr std::string_view view() const noexcept { return {text_.data(), size()}; }
    constexpr operator std::string_view() const noexcept { return view(); }

    friend constexpr bool operator==(const FixedString& a, const FixedString& b) noexcept {
        return a.view() == b.view();
    }
    template <std::convertible_to<std::string_view> Text>
    friend constexpr bool operator==(const FixedString& a, const Text& b) noexcept {
        return a.view() == std::string_view(b);
    }
    friend constexpr std::strong_ordering operator<=>(const FixedString& a, const FixedString& b) noexcept {
        return a.view() <=> b.view();
    }

private:
    Size size_ = 0;
    std::array<char, kCapacity> text_{};
};

template <std::size_t kCapacity>
inline constexpr bool kIsSimValue<FixedString<kCapacity>> = true;

static_assert(sizeof(FixedString<15>) == 16 && alignof(FixedString<15>) == 1);
static_assert(sizeof(FixedString<510>) == 512 && SimKey<FixedString<31>>);

}  // namespace ouro
