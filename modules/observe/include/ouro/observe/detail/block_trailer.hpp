#pragma once

#include <ouro/base/memory_block.hpp>
#include <ouro/memory/memory_resource.hpp>
#include <ouro/memory/tag.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

// The four bytes behind a charged block: its tag, in a form that a write beyond the end would spoil.
namespace ouro::detail {

class BlockTrailer {
public:
    constexpr BlockTrailer() noexcept : BlockTrailer(Tag{}) {}
    constexpr explicit BlockTrailer(Tag tag, bool is_sampled = false) noexcept
        : word_((kSeal | tag.id() | (is_sampled ? kSampledBit : 0U)) * kFactor) {}
    // Of a block that was freed.
    [[nodiscard]] static constexpr BlockTrailer dead() noexcept { return BlockTrailer(kDeadWord); }

    // What the bytes mean. Of all words, one in two million has a meaning.
    class Meaning {
    public:
        [[nodiscard]] constexpr bool is_sound() const noexcept {
            return (number_ & ~(kSampledBit | kTagMask)) == kSeal;
        }
        [[nodiscard]] constexpr bool is_sampled() const noexcept { return (number_ & kSampledBit) != 0; }
        [[nodiscard]] constexpr Tag tag() const noexcept {
            return Tag::from_id(static_cast<std::uint16_t>(number_ & kTagMask));
        }

    private:
        friend class BlockTrailer;
        constexpr explicit Meaning(std::uint32_t number) noexcept : number_(number) {}
        std::uint32_t number_;
    };
    [[nodiscard]] constexpr Meaning meaning() const noexcept { return Meaning(word_ * kInverse); }
    [[nodiscard]] constexpr Tag tag() const noexcept { return meaning().tag(); }
    [[nodiscard]] constexpr bool is_dead() const noexcept { return word_ == kDeadWord; }
    friend constexpr bool operator==(BlockTrailer, BlockTrailer) noexcept = default;

private:
    static constexpr std::uint32_t kSampledBit = 0x8000;
    // So that zeros mean nothing.
    static constexpr std::uint32_t kSeal = 0x5ea1'0000;
    static constexpr std::uint32_t kDeadWord = 0xdead'dead;
    static constexpr std::uint32_t kTagMask = kMaxTags - 1;
    static_assert(std::has_single_bit(kMaxTags) && kMaxTags <= kSampledBit);
    // Odd, so that there is a number that undoes it.
    static constexpr std::uint32_t kFactor = 0x9e3779b1;
    static constexpr std::uint32_t kInverse = 0xe8b2f51;

    static_assert(static_cast<std::uint32_t>(std::uint64_t{kFactor} * kInverse) == 1);

    constexpr explicit BlockTrailer(std::uint32_t word) noexcept : word_(word) {}

    std::uint32_t word_;
};
static_assert(sizeof(BlockTrailer) == 4);
static_assert(!BlockTrailer::dead().meaning().is_sound());

[[nodiscard]] constexpr MemoryBlock whole_block(MemoryBlock block) noexcept {
    return {block.data, block.size + sizeof(BlockTrailer)};
}

inline void write_trailer(MemoryBlock block, BlockTrailer trailer) noexcept {
    std::memcpy(block.data + block.size, &trailer, sizeof trailer);
}

[[nodiscard]] inline BlockTrailer load_trailer(MemoryBlock block) noexcept {
    BlockTrailer trailer;
    std::memcpy(&trailer, block.data + block.size, sizeof trailer);
    return trailer;
}

// Fails an assert with what is known: "message: 0x7f0c1fa31010 of 24 bytes in 'textures', under the tag
// 'audio'". The tag is the allocator's, or the thread's, for that of the block is lost.
[[noreturn, gnu::cold]] void trailer_assert_failed(const char* message, MemoryBlock block,
                                                   const MemoryResource& resource, Tag tag);

// Requires: a charged block with the size it was asked for, whose end nobody wrote beyond (assert). Resource
// and tag are for its message.
[[nodiscard]] inline BlockTrailer::Meaning read_trailer(MemoryBlock block, const MemoryResource& resource,
                                                        Tag tag) noexcept {
    const BlockTrailer trailer = load_trailer(block);
    const BlockTrailer::Meaning meaning = trailer.meaning();
    if (!meaning.is_sound()) [[unlikely]] {
        trailer_assert_failed(
            trailer.is_dead()
                ? "a block of a ChargedAllocator was freed twice"
                : "not a block of a ChargedAllocator with this size, or its end was written over",
            block, resource, tag);
    }
    return meaning;
}

}  // namespace ouro::detail
