#pragma once

#include <ouro/memory/allocator.hpp>
#include <ouro/memory/collections/bit_operations.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <utility>

namespace ouro {

// A set of numbers below N, a bit each. Plain data: may live in a state image, works at compile time.
//
//     FixedBitSet<256> keys;
//     keys.set(65);
//     for (std::size_t key : keys) ...
template <std::size_t N>
class FixedBitSet : public BitOperations<FixedBitSet<N>> {
public:
    static constexpr std::size_t kWords = words_for_bits(N);

    constexpr FixedBitSet() noexcept = default;

    [[nodiscard]] static constexpr std::size_t size() noexcept { return N; }
    // Bit i is bit i % 64 of word i / 64. Whoever writes them keeps bits beyond the size clear.
    [[nodiscard]] constexpr std::span<std::uint64_t, kWords> words() noexcept { return words_; }
    [[nodiscard]] constexpr std::span<const std::uint64_t, kWords> words() const noexcept { return words_; }

    [[nodiscard]] friend constexpr FixedBitSet operator|(FixedBitSet one, const FixedBitSet& other) noexcept {
        return one |= other;
    }
    [[nodiscard]] friend constexpr FixedBitSet operator&(FixedBitSet one, const FixedBitSet& other) noexcept {
        return one &= other;
    }
    [[nodiscard]] friend constexpr FixedBitSet operator^(FixedBitSet one, const FixedBitSet& other) noexcept {
        return one ^= other;
    }
    [[nodiscard]] friend constexpr FixedBitSet operator-(FixedBitSet one, const FixedBitSet& other) noexcept {
        return one -= other;
    }
    [[nodiscard]] friend constexpr FixedBitSet operator~(FixedBitSet set) noexcept {
        set.flip_all();
        return set;
    }

private:
    std::array<std::uint64_t, kWords> words_{};
};

// A set of numbers below a size chosen at run time, a bit each, on an allocator.
class BitSet : public BitOperations<BitSet> {
public:
    // Empty, of size zero, without memory; resize() gives it one.
    explicit BitSet(Allocator allocator) noexcept : allocator_(allocator) {}
    // All clear. Fails as the allocator does.
    [[nodiscard]] static Expected<BitSet> create(Allocator allocator, std::size_t bits) noexcept;

    // The other is of size zero afterwards, and keeps its allocator.
    BitSet(BitSet&& other) noexcept
        : allocator_(other.allocator_),
          words_(std::exchange(other.words_, nullptr)),
          size_(std::exchange(other.size_, 0)),
          capacity_words_(std::exchange(other.capacity_words_, 0)) {}
    BitSet& operator=(BitSet&& other) noexcept {
        BitSet taken(std::move(other));
        swap(taken);
        return *this;
    }
    ~BitSet() { give_back(); }

    [[nodiscard]] Expected<BitSet> clone() const noexcept;
    // New bits are clear. Smaller keeps the memory. Fails as the allocator does, and changes nothing then.
    [[nodiscard]] Status resize(std::size_t bits) noexcept;
    // Gives back the memory beyond the size, as far as the resource can.
    [[nodiscard]] Status shrink_to_fit() noexcept;
    void swap(BitSet& other) noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t capacity_bits() const noexcept { return capacity_words_ * 64; }
    // Bit i is bit i % 64 of word i / 64. Whoever writes them keeps bits beyond the size clear.
    [[nodiscard]] std::span<std::uint64_t> words() noexcept { return {words_, words_for_bits(size_)}; }
    [[nodiscard]] std::span<const std::uint64_t> words() const noexcept {
        return {words_, words_for_bits(size_)};
    }
    [[nodiscard]] Allocator allocator() const noexcept { return allocator_; }

private:
    [[nodiscard]] MemoryBlock block() const noexcept {
        return {reinterpret_cast<std::byte*>(words_), capacity_words_ * sizeof(std::uint64_t)};
    }
    [[nodiscard]] Status change_capacity(std::size_t words) noexcept;
    void give_back() noexcept;

    Allocator allocator_;
    std::uint64_t* words_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_words_ = 0;
};

}  // namespace ouro

// As ranges they give the bits that are set, while size() counts all: it is not the length of the range.
template <std::size_t N>
inline constexpr bool std::ranges::disable_sized_range<ouro::FixedBitSet<N>> = true;
template <>
inline constexpr bool std::ranges::disable_sized_range<ouro::BitSet> = true;
