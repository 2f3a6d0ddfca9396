#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

// What a partition keeps about its addresses. All of it lies in memory of its own, away from the blocks: a
// write past the end of a block, or through a stale pointer, cannot reach it.
namespace ouro::partition {

// Addresses are dealt out in spans of this size, which start at a multiple of it.
inline constexpr std::size_t kSpanBytes = std::size_t{64} << 10;

// The least size of a slot, and what all sizes are multiples of.
inline constexpr std::size_t kSlotUnit = 16;
// Up to this size blocks share spans; larger ones have spans of their own.
inline constexpr std::size_t kMaxSlotBytes = std::size_t{16} << 10;

// Sizes of slots: every unit up to kFineBytes, then four steps a doubling.
inline constexpr std::size_t kFineBytes = 256;
inline constexpr std::uint32_t kClassCount = 40;

inline constexpr std::array<std::uint32_t, kClassCount> kClassBytes = [] {
    std::array<std::uint32_t, kClassCount> sizes{};
    std::size_t size = 0;
    for (std::uint32_t& entry : sizes) {
        const std::size_t step = size < kFineBytes ? kSlotUnit : std::bit_floor(size) / 4;
        size += step;
        entry = static_cast<std::uint32_t>(size);
    }
    return sizes;
}();
static_assert(kClassBytes.back() == kMaxSlotBytes);

// The class that serves so many units.
inline constexpr std::array<std::uint8_t, kMaxSlotBytes / kSlotUnit + 1> kClassOfUnits = [] {
    std::array<std::uint8_t, kMaxSlotBytes / kSlotUnit + 1> classes{};
    std::uint8_t index = 0;
    for (std::size_t units = 0; units < classes.size(); ++units) {
        if (units * kSlotUnit > kClassBytes[index]) ++index;
        classes[units] = index;
    }
    return classes;
}();

// Requires: 1 <= size <= kMaxSlotBytes.
[[nodiscard]] constexpr std::uint32_t class_of(std::size_t size) noexcept {
    return kClassOfUnits[(size + kSlotUnit - 1) / kSlotUnit];
}

inline constexpr std::uint32_t kNoSpan = ~std::uint32_t{0};

enum class SpanKind : std::uint8_t {
    // No memory behind the addresses. Zero, so that fresh metadata says this of every span.
    unused,
    // Slots of one size.
    slots,
    // Memory kept for the next span of slots.
    empty,
    // The first span of a large block, and the others of it.
    large,
    continuation,
};

struct alignas(64) Span {
    // A bit for each unit of the span; only those where a slot starts are ever set.
    static constexpr std::uint32_t kWords = kSpanBytes / kSlotUnit / 64;
    using Bits = std::array<std::uint64_t, kWords>;

    // Which words of free_units are not zero.
    std::uint64_t summary;
    std::byte* begin;
    // Slots in all, and those that wait here to be handed out; both zero for any other kind.
    std::uint32_t capacity;
    std::uint32_t free_count;
    // The neighbours in the one list that the span is in, if any.
    std::uint32_t next;
    std::uint32_t previous;
    // Of a large block: how many spans it has, and where in them it lies.
    std::uint32_t run_spans;
    SpanKind kind;
    std::uint8_t class_index;
    bool is_listed;
    std::size_t block_offset;
    std::size_t block_bytes;
    // Of an unused span: how many bytes at its front still have memory, because it was freed under a seal.
    std::size_t kept_bytes;
    // A slot is free here, taken by the program, or in the partition's cache: then it has neither bit.
    Bits free_units;
    Bits taken_units;

    [[nodiscard]] bool is_taken(std::size_t unit) const noexcept {
        return (taken_units[unit / 64] >> unit % 64 & 1) != 0;
    }
    void set_taken(std::size_t unit) noexcept { taken_units[unit / 64] |= std::uint64_t{1} << unit % 64; }
    void clear_taken(std::size_t unit) noexcept {
        taken_units[unit / 64] &= ~(std::uint64_t{1} << unit % 64);
    }

    // Requires: a free slot.
    [[nodiscard]] std::byte* take_free() noexcept {
        const auto word = static_cast<std::size_t>(std::countr_zero(summary));
        const auto bit = static_cast<std::size_t>(std::countr_zero(free_units[word]));
        free_units[word] &= free_units[word] - 1;
        if (free_units[word] == 0) summary &= summary - 1;
        --free_count;
        return begin + (word * 64 + bit) * kSlotUnit;
    }

    // Requires: the slot is neither free nor taken.
    void give_free(std::size_t unit) noexcept {
        free_units[unit / 64] |= std::uint64_t{1} << unit % 64;
        summary |= std::uint64_t{1} << unit / 64;
        ++free_count;
    }

    // True where one of the span's slots begins.
    [[nodiscard]] bool is_slot_start(std::size_t unit) const noexcept;
    // Makes slots of the class out of so many bytes, all of them free.
    void open(std::uint32_t index, std::size_t usable_bytes) noexcept;
    [[nodiscard]] std::size_t taken_count() const noexcept;
    // Whether the bits, the summary and the counts fit together.
    [[nodiscard]] bool is_sound(std::size_t usable_bytes) const noexcept;
};

// Slots of one class on their way back to the program, newest last. Whatever comes and goes in small numbers
// stays here, and the spans are not troubled.
struct Cache {
    static constexpr std::uint32_t kMostSlots = 256;
    static constexpr std::uint32_t kLeastSlots = 8;
    static constexpr std::uint32_t kBytes = std::uint32_t{32} << 10;

    // How much comes from the spans when there is nothing left, and goes back when there is no room. Small
    // parts, so that numbers that swing by half of the limit settle where neither happens.
    [[nodiscard]] std::uint32_t refill_count() const noexcept { return limit / 8; }
    [[nodiscard]] std::uint32_t flush_count() const noexcept { return limit / 4; }

    std::uint32_t count = 0;
    std::uint32_t limit = 0;
    std::array<std::byte*, kMostSlots> slots{};
};

}  // namespace ouro::partition
