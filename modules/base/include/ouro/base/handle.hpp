#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/base/bits.hpp>

#include <compare>
#include <concepts>
#include <cstdint>

namespace ouro {

// Names a slot of a table together with the generation of its occupant, so that a handle kept too long is
// noticed instead of reaching the slot's next occupant. All bits zero is null; generations of live objects
// start at one.
//
// Tag makes handles of different tables different types. Word and kIndexBits divide the bits: the default has
// 32 for each; Handle<Tag, std::uint32_t, 20> fits four bytes with 4,096 generations.
template <class Tag, std::unsigned_integral Word = std::uint64_t, unsigned kIndexBits = kBitsOf<Word> / 2>
class Handle {
    static_assert(kIndexBits > 0 && kIndexBits < kBitsOf<Word>, "both index and generation need bits");

public:
    static constexpr Word kMaxIndex = low_mask<Word>(kIndexBits);
    static constexpr Word kMaxGeneration = low_mask<Word>(kBitsOf<Word> - kIndexBits);

    constexpr Handle() noexcept = default;

    // Requires: index <= kMaxIndex and 0 < generation <= kMaxGeneration.
    constexpr Handle(Word index, Word generation) noexcept
        : bits_(static_cast<Word>(generation << kIndexBits | index)) {
        OURO_DEBUG_ASSERT(index <= kMaxIndex, "the index does not fit the handle");
        OURO_DEBUG_ASSERT(generation != 0 && generation <= kMaxGeneration,
                          "a live generation is 1 to kMaxGeneration");
    }

    [[nodiscard]] static constexpr Handle from_bits(Word bits) noexcept {
        Handle handle;
        handle.bits_ = bits;
        return handle;
    }

    [[nodiscard]] constexpr Word bits() const noexcept { return bits_; }
    [[nodiscard]] constexpr Word index() const noexcept { return static_cast<Word>(bits_ & kMaxIndex); }
    [[nodiscard]] constexpr Word generation() const noexcept {
        return static_cast<Word>(bits_ >> kIndexBits);
    }
    [[nodiscard]] constexpr bool is_null() const noexcept { return bits_ == 0; }
    explicit constexpr operator bool() const noexcept { return bits_ != 0; }

    // The generation of a slot's next occupant: wraps around, and skips zero.
    [[nodiscard]] static constexpr Word next_generation(Word generation) noexcept {
        return generation >= kMaxGeneration ? Word{1} : static_cast<Word>(generation + 1);
    }

    friend constexpr bool operator==(Handle, Handle) noexcept = default;
    friend constexpr auto operator<=>(Handle, Handle) noexcept = default;

private:
    Word bits_ = 0;
};

}  // namespace ouro
