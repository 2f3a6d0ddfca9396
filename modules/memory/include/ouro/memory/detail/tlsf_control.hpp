#pragma once

#include <ouro/base/memory_block.hpp>
#include <ouro/memory/annotations.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ouro {
class TlsfHeapCheck;
}

namespace ouro::detail {

// What a TlsfHeap keeps at the front of its image, how the parts behind it are found, and how a free block is
// chosen. Nothing here writes.
class TlsfControl {
public:
    static constexpr std::size_t kUnit = 16;
    // The largest image; 32-bit offsets in units reach so far.
    static constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 35;

    TlsfControl(const TlsfControl&) = delete;
    TlsfControl& operator=(const TlsfControl&) = delete;

protected:
    friend class ouro::TlsfHeapCheck;

    // Sizes up to twice this many units have a class of their own; above, each doubling is divided so.
    static constexpr std::uint32_t kSlots = 32;
    static constexpr std::uint32_t kMaxLevels = 28;
    // Blocks so many levels above a size leave a large rest when they are cut.
    static constexpr std::uint32_t kRoomyLevels = 2;
    static constexpr std::size_t kMaxRequest =
        static_cast<std::size_t>(kMaxBytes - 1 < PTRDIFF_MAX ? kMaxBytes - 1 : PTRDIFF_MAX - kUnit);
    static constexpr std::uint64_t kMagic = 0x6661'6c73'746f'7572U;
    static constexpr std::uint32_t kVersion = 2;
    // Blocks up to this size are kept for the next request before they are merged.
    static constexpr std::uint32_t kQuickUnits = 32;
    // A part of the image, and never more than a flush can give back in short time.
    static constexpr std::uint32_t kQuickShare = 64;
    static constexpr std::uint32_t kMaxQuickUnits = 4096;

    // What the heap knows of a free block is its record, one unit of four words: the links of its list, its
    // size and where it starts. Records lie together in a table, so that searching and listing do not reach
    // into memory all over the image; once the table is full, in the block's own first unit.
    static constexpr std::size_t kNext = 0;
    static constexpr std::size_t kPrevious = 4;
    static constexpr std::size_t kUnits = 8;
    static constexpr std::size_t kStart = 12;
    // The table has one record for so many units of the image, up to what a tag can name.
    static constexpr std::uint32_t kUnitsPerRecord = 768;
    static constexpr std::uint32_t kMaxRecords = std::uint32_t{1} << 16;

    // The record of a free block is found from its first and its last unit. Each chunk of the image has a tag
    // for one first and one last unit in it: the number of a record in the table, whose words tell whether it
    // is the one looked for. Otherwise the unit itself says where the record is, in the word that is a
    // record's start.
    struct Tags {
        std::uint16_t first;
        std::uint16_t last;
    };
    static constexpr std::uint32_t kChunkUnits = 256;
    static constexpr std::size_t kRecord = kStart;

    struct Layout {
        std::uint32_t capacity_units;
        std::uint32_t level_count;
        std::uint32_t zone_bits;
        std::uint32_t slots_unit;
        std::uint32_t heads_unit;
        std::uint32_t records_unit;
        std::uint32_t tags_unit;
        std::uint32_t bits_unit;
        std::uint32_t first_unit;
    };
    [[nodiscard]] static Layout layout_of(std::uint64_t image_bytes) noexcept;

    explicit TlsfControl(const Layout& layout) noexcept;

    // The class that holds blocks of so many units.
    [[nodiscard]] static constexpr std::uint32_t class_of(std::uint32_t units) noexcept {
        const auto shift = static_cast<std::uint32_t>(std::bit_width(units / (2 * kSlots)));
        return shift * kSlots + (units >> shift);
    }
    // The lowest class whose blocks are all large enough.
    [[nodiscard]] static constexpr std::uint32_t class_fitting(std::uint32_t units) noexcept {
        const auto shift = static_cast<std::uint32_t>(std::bit_width(units / (2 * kSlots)));
        return class_of(units + (std::uint32_t{1} << shift) - 1);
    }

    // Within a class, free blocks are listed by the zone of the image in which they begin.
    [[nodiscard]] std::uint32_t zone_of(std::uint32_t unit) const noexcept { return unit >> zone_shift_; }
    [[nodiscard]] std::uint32_t list_of(std::uint32_t start, std::uint32_t units) const noexcept {
        return (class_of(units) << zone_bits_) + zone_of(start);
    }
    [[nodiscard]] std::uint32_t& head_of(std::uint32_t list) const noexcept {
        return reinterpret_cast<std::uint32_t*>(at(heads_unit_))[list];
    }
    [[nodiscard]] std::uint32_t& head_of(std::uint32_t index, std::uint32_t zone) const noexcept {
        return head_of((index << zone_bits_) + zone);
    }
    // The zones in which a class has free blocks, and the classes of a level that have some in a zone.
    [[nodiscard]] inline std::uint64_t& zones_of(std::uint32_t index) const noexcept;
    [[nodiscard]] std::uint32_t& slots_of(std::uint32_t level, std::uint32_t zone) const noexcept {
        return reinterpret_cast<std::uint32_t*>(at(slots_unit_))[(level << zone_bits_) + zone];
    }
    // A block of the lowest zone of a class. Requires: the class is not empty.
    [[nodiscard]] std::uint32_t lowest_of(std::uint32_t index) const noexcept {
        return head_of(index, static_cast<std::uint32_t>(std::countr_zero(zones_of(index))));
    }

    // The record of a free block that can hold so many units, or 0.
    [[nodiscard]] std::uint32_t choose(std::uint32_t units) const noexcept;
    [[nodiscard]] std::uint32_t lowest_from(std::uint32_t level) const noexcept;
    [[nodiscard]] std::uint32_t probe(std::uint32_t index, std::uint32_t units) const noexcept;
    [[nodiscard]] std::uint32_t find_fit(std::uint32_t units, std::size_t alignment,
                                         int steps) const noexcept;
    [[nodiscard]] std::uint32_t any_from(std::uint32_t index) const noexcept;
    [[nodiscard]] std::uint32_t find_scarce(std::uint32_t units, std::size_t alignment) const noexcept;
    [[nodiscard]] std::uint32_t choose_aligned(std::uint32_t units, std::size_t alignment) const noexcept;
    [[nodiscard]] std::uint32_t skip_to_alignment(std::uint32_t unit, std::size_t alignment) const noexcept;

    [[nodiscard]] bool holds(std::uint32_t unit, std::uint32_t units) const noexcept {
        return unit >= first_unit_ && unit < end_unit_ && units != 0 && units <= end_unit_ - unit;
    }

    // Everything is found from where the heap itself lies.
    [[nodiscard]] std::byte* base() const noexcept {
        return const_cast<std::byte*>(reinterpret_cast<const std::byte*>(this));
    }
    [[nodiscard]] static constexpr std::size_t bytes_of(std::uint32_t units) noexcept {
        return std::size_t{units} * kUnit;
    }
    [[nodiscard]] std::byte* at(std::uint32_t unit) const noexcept { return base() + bytes_of(unit); }
    [[nodiscard]] std::uint32_t unit_of(const std::byte* address) const noexcept {
        return static_cast<std::uint32_t>(static_cast<std::size_t>(address - base()) / kUnit);
    }
    [[nodiscard]] MemoryBlock block_at(std::uint32_t unit, std::uint32_t units) const noexcept {
        return {at(unit), bytes_of(units)};
    }
    [[nodiscard]] std::uint64_t* bits() const noexcept {
        return reinterpret_cast<std::uint64_t*>(at(bits_unit_));
    }

    [[nodiscard]] bool is_marked(std::uint32_t unit) const noexcept {
        return (bits()[unit / 64] >> (unit % 64) & 1) != 0;
    }

    // Free memory was the user's a moment ago, as objects of any type: its words are copied, not aliased. Who
    // owns the memory may have forbidden it to everybody else.
    OURO_LOOKS_INTO_FREE_MEMORY [[nodiscard]] std::uint32_t load(std::uint32_t unit,
                                                                 std::size_t word) const noexcept {
        const annotate::QuietScope quiet;
        std::uint32_t value = 0;
        std::memcpy(&value, at(unit) + word, sizeof(value));
        annotate::trust(value);
        return value;
    }
    [[nodiscard]] Tags& tags_of(std::uint32_t unit) const noexcept {
        return reinterpret_cast<Tags*>(at(tags_unit_))[unit / kChunkUnits];
    }
    // The record of the free block that begins or ends there. Requires: the unit is marked.
    [[nodiscard]] std::uint32_t record_from(std::uint32_t first) const noexcept {
        const std::uint32_t record = records_unit_ + tags_of(first).first;
        return load(record, kStart) == first ? record : load(first, kRecord);
    }
    [[nodiscard]] std::uint32_t record_up_to(std::uint32_t last) const noexcept {
        const std::uint32_t record = records_unit_ + tags_of(last).last;
        return load(record, kStart) + load(record, kUnits) - 1 == last ? record : load(last, kRecord);
    }

    std::uint64_t magic_ = kMagic;
    std::uint32_t version_ = kVersion;
    std::uint32_t capacity_units_;
    // The usable units; those before the first are the heap's own.
    std::uint32_t first_unit_;
    std::uint32_t end_unit_;
    std::uint32_t slots_unit_;
    std::uint32_t heads_unit_;
    std::uint32_t records_unit_;
    std::uint32_t tags_unit_;
    std::uint32_t bits_unit_;
    std::uint32_t level_count_;
    std::uint32_t zone_bits_;
    std::uint32_t zone_shift_;
    // Units not in a list of free blocks; those of them that are kept for the next request; the most ever
    // live.
    std::uint32_t taken_units_ = 0;
    std::uint32_t quick_units_ = 0;
    std::uint32_t quick_limit_units_;
    std::uint32_t quick_cursor_ = 0;
    std::uint32_t peak_units_ = 0;
    // The first of the records that are not used.
    std::uint32_t free_record_ = 0;
    std::uint64_t allocations_ = 0;
    std::uint64_t deallocations_ = 0;
    std::uint64_t grown_in_place_ = 0;
    std::uint64_t slid_down_ = 0;
    std::uint64_t moved_ = 0;
    std::array<std::uint32_t, kQuickUnits> quick_heads_{};
    // The zones in which a level or one above it has free blocks; behind the last level always none.
    std::array<std::uint64_t, kMaxLevels + kRoomyLevels + 1> reach_{};
    // Behind it, as long as an image of this size needs them: the zones of each class; the classes of each
    // level and zone; the first block of each class and zone; the table of records; the tags; the marks.
};

inline std::uint64_t& TlsfControl::zones_of(std::uint32_t index) const noexcept {
    return reinterpret_cast<std::uint64_t*>(base() + sizeof(TlsfControl))[index];
}

}  // namespace ouro::detail
