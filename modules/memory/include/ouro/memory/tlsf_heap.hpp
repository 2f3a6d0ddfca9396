#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/memory/annotations.hpp>
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/memory_resource.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace ouro {

// A heap of variable sizes that lies, with all it knows, at the front of the memory it manages: two-level
// segregated fit, every call in bounded time. The image holds no address and nothing that depends on the
// platform. It can be copied, saved or rolled back as bytes and goes on from there; the same calls leave the
// same bytes everywhere, as long as the images stand on multiples of the largest alignment asked.
//
//     auto heap = TlsfHeap::create_in(image);
//     auto block = (*heap)->allocate(1000);
//     (*heap)->deallocate(*block);
//
// Blocks have no header: who frees says the size. One bit a unit beside the blocks marks the first and the
// last unit of each free block, which is all that merging must know of a neighbour; a neighbour in use is not
// touched. A block of any alignment therefore costs its size, rounded up to the unit.
//
// Free blocks are listed by size and by where they lie; of those that fit well the lowest is taken, so that
// the upper end empties. The lists lie together, beside the blocks: a call that found its block has not
// touched others. Small blocks are kept for the next request of their size before they are merged: a
// bounded number of bytes, counted as free.
//
// One thread at a time. A heap is made and found in memory, never copied as an object.
class TlsfHeap {
public:
    static constexpr std::size_t kUnit = 16;
    // The largest image; 32-bit offsets in units reach so far.
    static constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 35;

    struct Stats {
        std::uint64_t live_bytes = 0;
        std::uint64_t peak_bytes = 0;
        std::uint64_t live_blocks = 0;
        std::uint64_t allocations = 0;
        // Reallocations that grew where the block was, that slid it down over free memory before it, and that
        // had to move it elsewhere.
        std::uint64_t grown_in_place = 0;
        std::uint64_t slid_down = 0;
        std::uint64_t moved = 0;
    };

    TlsfHeap(const TlsfHeap&) = delete;
    TlsfHeap& operator=(const TlsfHeap&) = delete;

    // Makes an empty heap in the image, of which the first `usable_bytes` can be used at once and the rest
    // after grow(). Requires of the memory only that it can be written as far as it is usable, and that it is
    // zero there when equal images are wanted. bad_alignment when it does not stand on a unit; out_of_range
    // when it is too small for the heap itself or too large.
    [[nodiscard]] static Expected<TlsfHeap*> create_in(MemoryBlock image, std::size_t usable_bytes) noexcept;
    [[nodiscard]] static Expected<TlsfHeap*> create_in(MemoryBlock image) noexcept {
        return create_in(image, image.size);
    }

    // The heap in an image that came from elsewhere, after verifying all of it. `image` may be shorter than
    // the heap can become, if it holds all that is usable. bad_alignment; corrupt_data.
    [[nodiscard]] static Expected<TlsfHeap*> open(MemoryBlock image) noexcept;

    // What the heap needs for itself at the front of an image that can become so large.
    [[nodiscard]] static std::size_t control_bytes(std::size_t image_bytes) noexcept;
    // An image that surely holds one block of that size and alignment.
    [[nodiscard]] static Expected<std::size_t> image_bytes_for(std::size_t size,
                                                               std::size_t alignment) noexcept;

    // As MemoryResource::allocate; capacity_exhausted when no free block is large enough, or when the only
    // ones are hardly larger than asked and lie behind many that are not: the search is bounded, as the time
    // of every call is.
    [[nodiscard]] Expected<MemoryBlock> allocate(std::size_t size,
                                                 std::size_t alignment = kDefaultAlignment) noexcept {
        if (size - 1 >= kMaxRequest || alignment > kUnit || !is_alignment(alignment)) [[unlikely]]
            return allocate_unusual(size, alignment);
        const auto units = static_cast<std::uint32_t>((size + kUnit - 1) / kUnit);
        if (units <= kQuickUnits) {
            const std::uint32_t kept = quick_heads_[units - 1];
            if (kept != 0) [[likely]] {
                quick_heads_[units - 1] = load(kept, kNext);
                quick_units_ -= units;
                ++allocations_;
                return block_at(kept, units);
            }
        }
        return allocate_units(units);
    }

    // Requires: a block of this heap, with a size from what was asked to what was given; or null.
    void deallocate(MemoryBlock block) noexcept {
        if (block.is_null()) return;
        const std::uint32_t unit = unit_of(block.data);
        const auto units = static_cast<std::uint32_t>((block.size + kUnit - 1) / kUnit);
        OURO_DEBUG_BLOCK_ASSERT(holds(unit, units), "the block is not of this heap", nullptr, block.data);
        OURO_BLOCK_ASSERT(!is_marked(unit), "the block is free already", nullptr, block.data);
        note_peak();
        ++deallocations_;
        if (units <= kQuickUnits && quick_units_ + units <= quick_limit_units_) {
            OURO_BLOCK_ASSERT(quick_heads_[units - 1] != unit, "the block is free already", nullptr,
                              block.data);
            store(unit, kNext, quick_heads_[units - 1]);
            quick_heads_[units - 1] = unit;
            quick_units_ += units;
            return;
        }
        deallocate_units(unit, units);
    }

    // As MemoryResource::reallocate: over free memory behind the block; else over free memory before it,
    // moving the bytes down; else elsewhere.
    [[nodiscard]] Expected<MemoryBlock> reallocate(MemoryBlock block, std::size_t new_size,
                                                   std::size_t alignment = kDefaultAlignment) noexcept;

    // As MemoryResource::try_resize.
    [[nodiscard]] Expected<MemoryBlock> try_resize(MemoryBlock block, std::size_t new_size,
                                                   std::size_t alignment = kDefaultAlignment) noexcept;

    // Makes the image usable up to so many bytes. Less than now is ignored; out_of_range beyond its size.
    Expected<void> grow(std::size_t usable_bytes) noexcept;
    // Gives up the free memory at the end, and returns how many bytes are still used from the front.
    std::size_t shrink() noexcept;

    [[nodiscard]] bool is_empty() const noexcept { return allocations_ == deallocations_; }
    [[nodiscard]] std::size_t image_bytes() const noexcept { return bytes_of(capacity_units_); }
    [[nodiscard]] std::size_t usable_bytes() const noexcept { return bytes_of(end_unit_); }
    [[nodiscard]] std::size_t free_bytes() const noexcept {
        return bytes_of(end_unit_ - first_unit_ - taken_units_ + quick_units_);
    }
    [[nodiscard]] Stats stats() const noexcept;

    // Walks every list, every free block and every bit: ok, or corrupt_data. The other form trusts nothing in
    // the image, not even its size, and reads only inside the given memory.
    [[nodiscard]] Status check() const noexcept { return check({base(), usable_bytes()}); }
    [[nodiscard]] static Status check(MemoryBlock image) noexcept;

private:
    friend class TlsfHeapCheck;

    // Sizes up to twice this many units have a class of their own; above, each doubling is divided so.
    static constexpr std::uint32_t kSlots = 32;
    static constexpr std::uint32_t kMaxLevels = 28;
    // Blocks so many levels above a size leave a large rest when they are cut.
    static constexpr std::uint32_t kRoomyLevels = 2;
    static constexpr std::size_t kMaxRequest =
        static_cast<std::size_t>(kMaxBytes - 1 < SIZE_MAX ? kMaxBytes - 1 : SIZE_MAX - kUnit);
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

    explicit TlsfHeap(const Layout& layout) noexcept;

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

    void note_peak() noexcept {
        const std::uint32_t live = taken_units_ - quick_units_;
        if (live > peak_units_) peak_units_ = live;
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

    // Lists of records; which of them are empty is noted by list and summed up by level.
    inline void note_filled(std::uint32_t list) noexcept;
    inline void note_emptied(std::uint32_t list) noexcept;
    inline void push(std::uint32_t list, std::uint32_t record) noexcept;
    inline void unlink(std::uint32_t list, std::uint32_t record) noexcept;
    inline void relist(std::uint32_t record, std::uint32_t from, std::uint32_t to) noexcept;
    // A record for the free block that starts at `unit`, where nothing is written yet; and the end of one.
    [[nodiscard]] inline std::uint32_t claim_record(std::uint32_t unit) noexcept;
    inline void release_record(std::uint32_t record) noexcept;
    [[nodiscard]] bool is_tabled(std::uint32_t record) const noexcept { return record < first_unit_; }
    inline void tag_first(std::uint32_t unit, std::uint32_t record) noexcept;
    inline void tag_last(std::uint32_t unit, std::uint32_t record) noexcept;
    inline void untag_first(std::uint32_t unit, std::uint32_t record) noexcept;
    inline void untag_last(std::uint32_t unit, std::uint32_t record) noexcept;

    // Whole free blocks: new ones, and ones that are no more.
    inline void insert(std::uint32_t unit, std::uint32_t units) noexcept;
    inline void remove(std::uint32_t record) noexcept;
    inline void take_front(std::uint32_t record, std::uint32_t units) noexcept;
    inline void give(std::uint32_t unit, std::uint32_t units) noexcept;
    inline void grow_up(std::uint32_t unit, std::uint32_t units, bool merges_behind) noexcept;
    inline void grow_down(std::uint32_t unit, std::uint32_t units) noexcept;
    // Merges quick blocks until there is room for so many units among them; or all of them.
    void make_quick_room(std::uint32_t units) noexcept;
    void flush_quick() noexcept;

    [[gnu::noinline]] Expected<MemoryBlock> allocate_units(std::uint32_t units) noexcept;
    [[gnu::noinline]] void deallocate_units(std::uint32_t unit, std::uint32_t units) noexcept;
    [[gnu::noinline]] Expected<MemoryBlock> allocate_scarce(std::uint32_t units) noexcept;
    [[gnu::noinline]] Expected<MemoryBlock> allocate_unusual(std::size_t size,
                                                             std::size_t alignment) noexcept;
    void take_part(std::uint32_t record, std::uint32_t skipped, std::uint32_t units) noexcept;
    [[nodiscard]] std::uint32_t skip_to_alignment(std::uint32_t unit, std::size_t alignment) const noexcept;
    [[nodiscard]] Expected<MemoryBlock> slide_down(MemoryBlock block, std::uint32_t units,
                                                   std::size_t alignment) noexcept;
    [[nodiscard]] bool grow_behind(std::uint32_t unit, std::uint32_t old_units, std::uint32_t units) noexcept;

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
    void mark(std::uint32_t unit) noexcept { bits()[unit / 64] |= std::uint64_t{1} << (unit % 64); }
    void unmark(std::uint32_t unit) noexcept { bits()[unit / 64] &= ~(std::uint64_t{1} << (unit % 64)); }

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
    OURO_LOOKS_INTO_FREE_MEMORY void store(std::uint32_t unit, std::size_t word,
                                           std::uint32_t value) noexcept {
        const annotate::QuietScope quiet;
        std::memcpy(at(unit) + word, &value, sizeof(value));
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

static_assert(std::is_standard_layout_v<TlsfHeap> && std::is_trivially_destructible_v<TlsfHeap>);
// No padding, whose bytes nobody would write.
static_assert(std::has_unique_object_representations_v<TlsfHeap>);
static_assert(sizeof(TlsfHeap) == 496 && sizeof(TlsfHeap) % TlsfHeap::kUnit == 0);

inline std::uint64_t& TlsfHeap::zones_of(std::uint32_t index) const noexcept {
    return reinterpret_cast<std::uint64_t*>(base() + sizeof(TlsfHeap))[index];
}

}  // namespace ouro
