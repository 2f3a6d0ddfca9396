#pragma once

#include <ouro/base/bits.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <type_traits>

namespace ouro {

// Gives the enumerators that are set, lowest first.
template <class Enum, std::unsigned_integral Word>
class FlagIterator {
public:
    using value_type = Enum;
    using difference_type = std::ptrdiff_t;
    using reference = Enum;
    using pointer = void;
    using iterator_category = std::input_iterator_tag;
    using iterator_concept = std::forward_iterator_tag;

    constexpr FlagIterator() noexcept = default;
    explicit constexpr FlagIterator(Word rest) noexcept : rest_(rest) {}

    [[nodiscard]] constexpr Enum operator*() const noexcept {
        return static_cast<Enum>(std::countr_zero(rest_));
    }
    constexpr FlagIterator& operator++() noexcept {
        rest_ = static_cast<Word>(rest_ & (rest_ - 1U));
        return *this;
    }
    constexpr FlagIterator operator++(int) noexcept {
        const FlagIterator before = *this;
        ++*this;
        return before;
    }
    [[nodiscard]] friend constexpr bool operator==(FlagIterator, FlagIterator) noexcept = default;

private:
    Word rest_ = 0;
};

// A set of enumerators in one word. The enumerators are numbers of bits, 0, 1, 2..., not masks; a mistake
// between two enumerations does not compile.
//
//     enum class Trait : std::uint8_t { hungry, asleep, ill };
//     BitFlags<Trait> traits{Trait::hungry, Trait::ill};
//     if (traits.has(Trait::ill)) traits.clear(Trait::hungry);
//
// Plain data of the size of the word: may live in a state image, works at compile time.
template <class Enum, std::unsigned_integral Word = std::uint32_t>
    requires std::is_enum_v<Enum>
class BitFlags {
public:
    using value_type = Enum;
    using iterator = FlagIterator<Enum, Word>;
    using const_iterator = iterator;

    constexpr BitFlags() noexcept = default;
    constexpr BitFlags(Enum flag) noexcept : word_(mask_of(flag)) {}  // NOLINT(google-explicit-constructor)
    constexpr BitFlags(std::initializer_list<Enum> flags) noexcept {
        for (const Enum flag : flags)
            set(flag);
    }
    // From bits that were stored; any are accepted.
    [[nodiscard]] static constexpr BitFlags from_word(Word word) noexcept {
        BitFlags flags;
        flags.word_ = word;
        return flags;
    }
    [[nodiscard]] constexpr Word word() const noexcept { return word_; }

    [[nodiscard]] constexpr bool has(Enum flag) const noexcept { return (word_ & mask_of(flag)) != 0; }
    [[nodiscard]] constexpr bool has_all(BitFlags flags) const noexcept {
        return (word_ & flags.word_) == flags.word_;
    }
    [[nodiscard]] constexpr bool has_any(BitFlags flags) const noexcept { return (word_ & flags.word_) != 0; }
    [[nodiscard]] constexpr bool empty() const noexcept { return word_ == 0; }
    [[nodiscard]] constexpr std::size_t count() const noexcept {
        return static_cast<std::size_t>(std::popcount(word_));
    }

    constexpr void set(BitFlags flags) noexcept { *this |= flags; }
    constexpr void clear(BitFlags flags) noexcept { *this -= flags; }
    constexpr void flip(BitFlags flags) noexcept { *this ^= flags; }
    constexpr void assign(BitFlags flags, bool value) noexcept {
        *this = value ? *this | flags : *this - flags;
    }
    constexpr void clear_all() noexcept { word_ = 0; }

    constexpr BitFlags& operator|=(BitFlags other) noexcept { return become(word_ | other.word_); }
    constexpr BitFlags& operator&=(BitFlags other) noexcept { return become(word_ & other.word_); }
    constexpr BitFlags& operator^=(BitFlags other) noexcept { return become(word_ ^ other.word_); }
    // Clears what is set in the other.
    constexpr BitFlags& operator-=(BitFlags other) noexcept { return become(word_ & ~other.word_); }
    [[nodiscard]] friend constexpr BitFlags operator|(BitFlags one, BitFlags other) noexcept {
        return one |= other;
    }
    [[nodiscard]] friend constexpr BitFlags operator&(BitFlags one, BitFlags other) noexcept {
        return one &= other;
    }
    [[nodiscard]] friend constexpr BitFlags operator^(BitFlags one, BitFlags other) noexcept {
        return one ^= other;
    }
    [[nodiscard]] friend constexpr BitFlags operator-(BitFlags one, BitFlags other) noexcept {
        return one -= other;
    }
    [[nodiscard]] friend constexpr bool operator==(BitFlags, BitFlags) noexcept = default;

    [[nodiscard]] constexpr iterator begin() const noexcept { return iterator(word_); }
    [[nodiscard]] constexpr iterator end() const noexcept { return iterator(); }

private:
    // Requires: the enumerator's number is below the bits of the word (debug assert).
    [[nodiscard]] static constexpr Word mask_of(Enum flag) noexcept {
        const auto bit = static_cast<std::size_t>(flag);
        OURO_DEBUG_ASSERT(bit < kBitsOf<Word>, "the word has no bit for this enumerator; use a wider one");
        return static_cast<Word>(Word{1} << bit);
    }
    template <class Wide>
    constexpr BitFlags& become(Wide word) noexcept {
        word_ = static_cast<Word>(word);
        return *this;
    }

    Word word_ = 0;
};

}  // namespace ouro
