#include "page_packing.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

// A page is 64 groups of eight words. First a mask of the groups that differ, then for each of them a mask of
// its words that do, and for each of these a mask of its bytes, and the bytes.
namespace ouro::detail {
namespace {

using Word = std::uint64_t;
constexpr std::size_t kGroups = 64;
constexpr std::size_t kGroupWords = 8;
constexpr std::size_t kGroupBytes = kGroupWords * sizeof(Word);
static_assert(kGroups * kGroupBytes == kStatePageBytes && kGroupBytes == kStateLineBytes);
// A group takes no more than its mask, and a mask and all bytes for each word.
constexpr std::size_t kMaxGroupBytes = 1 + kGroupWords * (1 + sizeof(Word));
static_assert(std::endian::native == std::endian::little);

Word load(const std::byte* from) noexcept {
    Word word = 0;
    std::memcpy(&word, from, sizeof(word));
    return word;
}

// Written in any case, and kept when it is not zero: without a branch a byte.
std::byte* put_word(Word word, std::byte* to) noexcept {
    std::byte* mask = to++;
    unsigned bits = 0;
    for (unsigned index = 0; index < sizeof(Word); ++index) {
        const auto byte = static_cast<std::uint8_t>(word >> (8 * index));
        *to = std::byte{byte};
        const unsigned is_there = byte != 0 ? 1 : 0;
        to += is_there;
        bits |= is_there << index;
    }
    *mask = static_cast<std::byte>(bits);
    return to;
}

std::byte* put_group(const std::array<Word, kGroupWords>& words, std::byte* to) noexcept {
    std::byte* mask = to++;
    unsigned bits = 0;
    for (unsigned index = 0; index < kGroupWords; ++index) {
        if (words[index] == 0) continue;
        bits |= 1U << index;
        to = put_word(words[index], to);
    }
    *mask = static_cast<std::byte>(bits);
    return to;
}

std::array<Word, kGroupWords> difference(const std::byte* page, const std::byte* other,
                                         std::size_t at) noexcept {
    std::array<Word, kGroupWords> words{};
    for (std::size_t index = 0; index < kGroupWords; ++index) {
        const std::size_t offset = at + index * sizeof(Word);
        words[index] = load(page + offset) ^ (other == nullptr ? 0 : load(other + offset));
    }
    return words;
}

std::size_t store_plain(const std::byte* page, const std::byte* other, std::byte* packed) noexcept {
    for (std::size_t at = 0; at < kStatePageBytes; at += kGroupBytes) {
        const auto words = difference(page, other, at);
        std::memcpy(packed + at, words.data(), kGroupBytes);
    }
    return kStatePageBytes;
}

void apply_word(Word word, std::byte* to) noexcept {
    word ^= load(to);
    std::memcpy(to, &word, sizeof(word));
}

// Reads masks and bytes, and knows when there are none left.
class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) noexcept
        : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    [[nodiscard]] bool has(std::size_t bytes) const noexcept {
        return static_cast<std::size_t>(end_ - at_) >= bytes;
    }
    [[nodiscard]] unsigned mask() noexcept { return std::to_integer<unsigned>(*at_++); }
    [[nodiscard]] Word groups() noexcept {
        const Word groups = load(at_);
        at_ += sizeof(Word);
        return groups;
    }
    [[nodiscard]] Word word(unsigned bits) noexcept {
        Word word = 0;
        for (; bits != 0; bits &= bits - 1)
            word |= Word{std::to_integer<std::uint8_t>(*at_++)} << (8 * std::countr_zero(bits));
        return word;
    }

private:
    const std::byte* at_;
    const std::byte* end_;
};

bool apply_group(Reader& reader, std::byte* to) noexcept {
    if (!reader.has(1)) return false;
    for (unsigned words = reader.mask(); words != 0; words &= words - 1) {
        if (!reader.has(1)) return false;
        const unsigned bytes = reader.mask();
        if (!reader.has(static_cast<std::size_t>(std::popcount(bytes)))) return false;
        apply_word(reader.word(bytes), to + static_cast<std::size_t>(std::countr_zero(words)) * sizeof(Word));
    }
    return true;
}

}  // namespace

std::size_t pack_difference(const std::byte* page, const std::byte* other, std::byte* packed,
                            std::uint64_t lines) noexcept {
    Word groups = 0;
    std::byte* to = packed + sizeof(groups);
    for (; lines != 0; lines &= lines - 1) {
        const auto group = static_cast<std::size_t>(std::countr_zero(lines));
        const auto words = difference(page, other, group * kGroupBytes);
        Word any = 0;
        for (const Word word : words)
            any |= word;
        if (any == 0) continue;
        // What does not fit with its worst case behind it is stored as it is.
        if (static_cast<std::size_t>(to - packed) + kMaxGroupBytes >= kMaxPackedBytes)
            return store_plain(page, other, packed);
        groups |= Word{1} << group;
        to = put_group(words, to);
    }
    if (groups == 0) return 0;
    std::memcpy(packed, &groups, sizeof(groups));
    return static_cast<std::size_t>(to - packed);
}

bool apply_difference(std::span<const std::byte> packed, std::byte* page) noexcept {
    if (packed.empty()) return true;
    if (packed.size() == kStatePageBytes) {
        for (std::size_t at = 0; at < kStatePageBytes; at += sizeof(Word))
            apply_word(load(packed.data() + at), page + at);
        return true;
    }
    Reader reader(packed);
    if (!reader.has(sizeof(Word))) return false;
    for (Word groups = reader.groups(); groups != 0; groups &= groups - 1) {
        const auto group = static_cast<std::size_t>(std::countr_zero(groups));
        if (!apply_group(reader, page + group * kGroupBytes)) return false;
    }
    return !reader.has(1);
}

}  // namespace ouro::detail
