#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/memory/tag.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

// The four bytes behind a charged block: its tag, and a check that a write beyond the end would change.
namespace ouro::detail {

class BlockTrailer {
public:
    constexpr BlockTrailer() noexcept = default;
    constexpr explicit BlockTrailer(Tag tag, bool is_sampled = false) noexcept
        : word_(with_check(tag.id() | (is_sampled ? kSampledBit : 0U))) {}

    [[nodiscard]] constexpr Tag tag() const noexcept {
        return Tag::from_id(static_cast<std::uint16_t>(word_ & (kSampledBit - 1)));
    }
    [[nodiscard]] constexpr bool is_sampled() const noexcept { return (word_ & kSampledBit) != 0; }
    [[nodiscard]] constexpr bool is_sound() const noexcept { return word_ == with_check(word_ & 0xffffU); }
    [[nodiscard]] constexpr BlockTrailer sampled() const noexcept { return BlockTrailer(tag(), true); }

private:
    static constexpr std::uint32_t kSampledBit = 0x8000;
    static_assert(kMaxTags <= kSampledBit);
    static constexpr std::uint32_t kCheckBits = 0x5a3c;

    [[nodiscard]] static constexpr std::uint32_t with_check(std::uint32_t kind) noexcept {
        return kind | (kind ^ kCheckBits) << 16;
    }

    std::uint32_t word_ = with_check(0);
};
static_assert(sizeof(BlockTrailer) == 4);

[[nodiscard]] constexpr MemoryBlock whole_block(MemoryBlock block) noexcept {
    return {block.data, block.size + sizeof(BlockTrailer)};
}

inline void write_trailer(MemoryBlock block, BlockTrailer trailer) noexcept {
    std::memcpy(block.data + block.size, &trailer, sizeof trailer);
}

// Requires: a charged block with the size it was asked for, whose end nobody wrote beyond (assert).
[[nodiscard]] inline BlockTrailer read_trailer(MemoryBlock block) noexcept {
    BlockTrailer trailer;
    std::memcpy(&trailer, block.data + block.size, sizeof trailer);
    OURO_ASSERT(trailer.is_sound(),
                "not a block of a ChargedAllocator with this size, or its end was written over");
    return trailer;
}

}  // namespace ouro::detail
