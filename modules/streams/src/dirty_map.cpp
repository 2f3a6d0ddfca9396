#include <ouro/streams/dirty_map.hpp>

#include <bit>
#include <cstring>

namespace ouro {
namespace {

static_assert(sizeof(DirtyMap::Byte) == 1 && std::endian::native == std::endian::little);

// Eight marks at once. Nobody marks meanwhile, so that plain copies see whole bytes.
std::uint64_t load_marks(const DirtyMap::Byte* marks) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, static_cast<const void*>(marks), sizeof(word));
    return word;
}

void clear_marks(DirtyMap::Byte* marks) noexcept {
    std::memset(static_cast<void*>(marks), 0, sizeof(std::uint64_t));
}

// The number of the first mark in a word, and the word without it.
std::uint32_t first_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(std::countr_zero(word)) / 8;
}

}  // namespace

std::uint32_t DirtyMap::drain_group(std::uint32_t group, std::uint32_t* out) noexcept {
    std::uint32_t count = 0;
    const std::uint32_t begin = group << kGroupShift;
    for (std::uint32_t page = begin; page < begin + kGroupPages; page += 8) {
        std::uint64_t word = load_marks(&pages_[page]);
        if (word == 0) continue;
        clear_marks(&pages_[page]);
        for (; word != 0; word &= word - 1)
            out[count++] = page + first_of(word);
    }
    return count;
}

std::uint32_t DirtyMap::drain(std::uint32_t* out) noexcept {
    if (drains_ != nullptr) ++*drains_;
    std::uint32_t count = 0;
    for (std::uint32_t group = 0; group < groups_.size(); group += 8) {
        std::uint64_t word = load_marks(&groups_[group]);
        if (word == 0) continue;
        clear_marks(&groups_[group]);
        for (; word != 0; word &= word - 1)
            count += drain_group(group + first_of(word), out + count);
    }
    return count;
}

std::uint64_t DirtyMap::take_lines(std::uint32_t page) noexcept {
    // Brings the lowest bits of eight bytes together in the highest byte.
    constexpr std::uint64_t kGather = 0x0102040810204080;
    Byte* own = lines_ + (std::size_t{page} << kLinesShift);
    std::uint64_t lines = 0;
    for (unsigned index = 0; index < 1U << kLinesShift; index += 8)
        lines |= (load_marks(own + index) * kGather >> 56) << index;
    std::memset(static_cast<void*>(own), 0, std::size_t{1} << kLinesShift);
    return lines;
}

std::uint32_t DirtyMap::count() const noexcept {
    std::uint32_t count = 0;
    for (const Byte& page : pages_)
        count += page.load(std::memory_order_relaxed);
    return count;
}

}  // namespace ouro
