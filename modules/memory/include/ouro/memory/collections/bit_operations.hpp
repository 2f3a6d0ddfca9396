#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/base/bits.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

namespace ouro {

// How many bits are set. Adds up bytes of many words before summing across, which needs no popcount
// instruction, lets the compiler use vectors, and beats calling for each word.
[[nodiscard]] constexpr std::size_t count_bits(std::span<const std::uint64_t> words) noexcept {
    // A byte of the running sum gains at most 8 a word, and holds 255.
    constexpr std::size_t kBatch = 31;
    std::size_t total = 0;
    while (!words.empty()) {
        const std::size_t here = std::min(kBatch, words.size());
        std::uint64_t bytes = 0;
        for (std::size_t i = 0; i < here; ++i) {
            std::uint64_t word = words[i];
            word -= word >> 1 & 0x5555555555555555U;
            word = (word & 0x3333333333333333U) + (word >> 2 & 0x3333333333333333U);
            bytes += (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0FU;
        }
        const std::uint64_t pairs = (bytes & 0x00FF00FF00FF00FFU) + (bytes >> 8 & 0x00FF00FF00FF00FFU);
        total += static_cast<std::size_t>(pairs * 0x0001000100010001U >> 48);
        words = words.subspan(here);
    }
    return total;
}

// Gives the numbers of set bits, lowest first. Clearing the bit it stands on does not disturb it; changes
// ahead in the same word are not seen.
class SetBitIterator {
public:
    using value_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using reference = std::size_t;
    using pointer = void;
    using iterator_category = std::input_iterator_tag;
    using iterator_concept = std::forward_iterator_tag;

    constexpr SetBitIterator() noexcept = default;
    // At the first set bit in or behind the word.
    constexpr SetBitIterator(std::span<const std::uint64_t> words, std::size_t word) noexcept
        : words_(words), word_(word), rest_(word < words.size() ? words[word] : 0) {
        skip_empty();
    }

    [[nodiscard]] constexpr std::size_t operator*() const noexcept {
        return word_ * 64 + static_cast<std::size_t>(std::countr_zero(rest_));
    }
    constexpr SetBitIterator& operator++() noexcept {
        rest_ &= rest_ - 1;
        if (rest_ == 0) skip_empty();
        return *this;
    }
    constexpr SetBitIterator operator++(int) noexcept {
        const SetBitIterator before = *this;
        ++*this;
        return before;
    }
    [[nodiscard]] friend constexpr bool operator==(const SetBitIterator& one,
                                                   const SetBitIterator& other) noexcept {
        return one.rest_ == other.rest_ && one.word_ == other.word_;
    }

private:
    constexpr void skip_empty() noexcept {
        while (rest_ == 0 && word_ < words_.size()) {
            if (++word_ < words_.size()) rest_ = words_[word_];
        }
    }

    std::span<const std::uint64_t> words_;
    std::size_t word_ = 0;
    std::uint64_t rest_ = 0;
};

// What FixedBitSet and BitSet can both do. `Derived` has words(), a span in both const forms, and size(), the
// number of bits; bits of the last word beyond the size are always clear. As a range it gives the numbers of
// the set bits. Indices are below size() and operands of equal size (debug asserts).
template <class Derived>
class BitOperations {
public:
    [[nodiscard]] constexpr bool test(std::size_t index) const noexcept {
        require(index);
        return (self().words()[index / 64] >> (index % 64) & 1) != 0;
    }
    constexpr void set(std::size_t index) noexcept { word_of(index) |= bit_of(index); }
    constexpr void clear(std::size_t index) noexcept { word_of(index) &= ~bit_of(index); }
    constexpr void flip(std::size_t index) noexcept { word_of(index) ^= bit_of(index); }
    constexpr void assign(std::size_t index, bool value) noexcept {
        std::uint64_t& word = word_of(index);
        word = (word & ~bit_of(index)) | std::uint64_t{value} << (index % 64);
    }

    constexpr void set_all() noexcept { set_range(0, self().size()); }
    constexpr void clear_all() noexcept { std::ranges::fill(self().words(), 0); }
    // Bits [first, first + count).
    constexpr void set_range(std::size_t first, std::size_t count) noexcept {
        require_range(first, count);
        for_each_mask(first, count, [](std::uint64_t& word, std::uint64_t mask) { word |= mask; });
    }
    constexpr void clear_range(std::size_t first, std::size_t count) noexcept {
        require_range(first, count);
        for_each_mask(first, count, [](std::uint64_t& word, std::uint64_t mask) { word &= ~mask; });
    }
    constexpr void flip_all() noexcept {
        for_each_mask(0, self().size(), [](std::uint64_t& word, std::uint64_t mask) { word ^= mask; });
    }

    [[nodiscard]] constexpr std::size_t count() const noexcept { return count_bits(self().words()); }
    [[nodiscard]] constexpr bool any() const noexcept {
        return std::ranges::any_of(self().words(), [](std::uint64_t word) { return word != 0; });
    }
    [[nodiscard]] constexpr bool none() const noexcept { return !any(); }
    [[nodiscard]] constexpr bool all() const noexcept { return find_first_clear() == self().size(); }

    // The lowest set bit, the lowest behind an index, the lowest clear bit; size() when there is none.
    [[nodiscard]] constexpr std::size_t find_first() const noexcept { return find_at_or_after(0); }
    [[nodiscard]] constexpr std::size_t find_next(std::size_t index) const noexcept {
        return find_at_or_after(index + 1);
    }
    [[nodiscard]] constexpr std::size_t find_first_clear() const noexcept {
        const auto words = self().words();
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::size_t found = i * 64 + static_cast<std::size_t>(std::countr_one(words[i]));
            if (found < (i + 1) * 64) return std::min(found, self().size());
        }
        return self().size();
    }

    constexpr Derived& operator|=(const Derived& other) noexcept {
        return combine(other, [](std::uint64_t one, std::uint64_t two) { return one | two; });
    }
    constexpr Derived& operator&=(const Derived& other) noexcept {
        return combine(other, [](std::uint64_t one, std::uint64_t two) { return one & two; });
    }
    constexpr Derived& operator^=(const Derived& other) noexcept {
        return combine(other, [](std::uint64_t one, std::uint64_t two) { return one ^ two; });
    }
    // Clears what is set in the other.
    constexpr Derived& operator-=(const Derived& other) noexcept {
        return combine(other, [](std::uint64_t one, std::uint64_t two) { return one & ~two; });
    }

    [[nodiscard]] constexpr bool intersects(const Derived& other) const noexcept {
        return any_word(other, [](std::uint64_t one, std::uint64_t two) { return (one & two) != 0; });
    }
    [[nodiscard]] constexpr bool is_subset_of(const Derived& other) const noexcept {
        return !any_word(other, [](std::uint64_t one, std::uint64_t two) { return (one & ~two) != 0; });
    }
    [[nodiscard]] friend constexpr bool operator==(const Derived& one, const Derived& other) noexcept {
        return one.size() == other.size() && std::ranges::equal(one.words(), other.words());
    }

    [[nodiscard]] constexpr SetBitIterator begin() const noexcept { return {self().words(), 0}; }
    [[nodiscard]] constexpr SetBitIterator end() const noexcept {
        return {self().words(), self().words().size()};
    }
    // Calls visit(index) for each set bit, lowest first: the fastest way to walk a dense set.
    template <class Visit>
    constexpr void for_each_set(Visit&& visit) const {
        const auto words = self().words();
        for (std::size_t i = 0; i < words.size(); ++i) {
            for (std::uint64_t rest = words[i]; rest != 0; rest &= rest - 1)
                visit(i * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
        }
    }

private:
    friend Derived;
    constexpr BitOperations() noexcept = default;

    [[nodiscard]] constexpr Derived& self() noexcept { return static_cast<Derived&>(*this); }
    [[nodiscard]] constexpr const Derived& self() const noexcept {
        return static_cast<const Derived&>(*this);
    }
    constexpr void require([[maybe_unused]] std::size_t index) const noexcept {
        OURO_DEBUG_ASSERT(index < self().size(), "there is no such bit");
    }
    constexpr void require_range([[maybe_unused]] std::size_t first,
                                 [[maybe_unused]] std::size_t count) const noexcept {
        OURO_DEBUG_ASSERT(first <= self().size() && count <= self().size() - first,
                          "the range reaches behind the last bit");
    }
    [[nodiscard]] constexpr std::uint64_t& word_of(std::size_t index) noexcept {
        require(index);
        return self().words()[index / 64];
    }
    [[nodiscard]] static constexpr std::uint64_t bit_of(std::size_t index) noexcept {
        return std::uint64_t{1} << (index % 64);
    }

    template <class Change>
    constexpr void for_each_mask(std::size_t first, std::size_t count, Change change) noexcept {
        const auto words = self().words();
        while (count != 0) {
            const auto shift = static_cast<unsigned>(first % 64);
            const auto here = static_cast<unsigned>(std::min<std::size_t>(count, 64 - shift));
            change(words[first / 64], low_mask<std::uint64_t>(here) << shift);
            first += here;
            count -= here;
        }
    }
    [[nodiscard]] constexpr std::size_t find_at_or_after(std::size_t from) const noexcept {
        if (from >= self().size()) return self().size();
        return std::min(find_set_bit(self().words(), from), self().size());
    }
    template <class Combine>
    constexpr Derived& combine(const Derived& other, Combine combine_words) noexcept {
        OURO_DEBUG_ASSERT(self().size() == other.size(), "the sets have different sizes");
        const auto mine = self().words();
        const auto theirs = other.words();
        for (std::size_t i = 0; i < mine.size(); ++i)
            mine[i] = combine_words(mine[i], theirs[i]);
        return self();
    }
    template <class Test>
    [[nodiscard]] constexpr bool any_word(const Derived& other, Test test_words) const noexcept {
        OURO_DEBUG_ASSERT(self().size() == other.size(), "the sets have different sizes");
        const auto mine = self().words();
        const auto theirs = other.words();
        for (std::size_t i = 0; i < mine.size(); ++i)
            if (test_words(mine[i], theirs[i])) return true;
        return false;
    }
};

}  // namespace ouro
