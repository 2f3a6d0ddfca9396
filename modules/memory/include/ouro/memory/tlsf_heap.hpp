#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/memory/annotations.hpp>
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/detail/tlsf_control.hpp>
#include <ouro/memory/memory_resource.hpp>
#include <ouro/memory/write_barrier.hpp>

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
class TlsfHeap : public detail::TlsfControl {
public:
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

    // Where an address of the image lies: in what the heap keeps of itself, in free memory, or among blocks.
    // The heap does not know where a block ends that is followed by another: of blocks it tells the whole
    // range that lies between free memory.
    enum class PlaceKind : std::uint8_t { control, free, blocks };
    struct Place {
        PlaceKind kind = PlaceKind::control;
        MemoryBlock range;
    };

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
            if (const std::uint32_t kept = take_quick(units); kept != 0) [[likely]]
                return block_at(kept, units);
        }
        return allocate_units(units);
    }

    // Requires: a block of this heap, with a size from what was asked to what was given; or null.
    void deallocate(MemoryBlock block) noexcept {
        if (block.is_null()) return;
        const std::uint32_t unit = unit_of(block.data);
        const auto units = static_cast<std::uint32_t>((block.size + kUnit - 1) / kUnit);
        end_block(unit, units);
        if (keep_quick(kNoBarrier, unit, units)) return;
        deallocate_units(unit, units);
    }

    // As MemoryResource::reallocate: over free memory behind the block; else over free memory before it,
    // moving the bytes down; else elsewhere.
    [[nodiscard]] Expected<MemoryBlock> reallocate(MemoryBlock block, std::size_t new_size,
                                                   std::size_t alignment = kDefaultAlignment) noexcept;

    // As MemoryResource::try_resize.
    [[nodiscard]] Expected<MemoryBlock> try_resize(MemoryBlock block, std::size_t new_size,
                                                   std::size_t alignment = kDefaultAlignment) noexcept;

    // The same for whoever must know of each write, as the image of a StateRing must: the barrier is told of
    // every range of the image before it is written, be it the heap's or a block that moves. The bodies are
    // in detail/tlsf_operations.hpp.
    template <WriteBarrier Barrier>
    [[nodiscard]] static Expected<TlsfHeap*> create_in(Barrier barrier, MemoryBlock image,
                                                       std::size_t usable_bytes) noexcept;
    template <WriteBarrier Barrier>
    [[nodiscard]] Expected<MemoryBlock> allocate(Barrier barrier, std::size_t size,
                                                 std::size_t alignment) noexcept;
    template <WriteBarrier Barrier>
    void deallocate(Barrier barrier, MemoryBlock block) noexcept;
    template <WriteBarrier Barrier>
    [[nodiscard]] Expected<MemoryBlock> reallocate(Barrier barrier, MemoryBlock block, std::size_t new_size,
                                                   std::size_t alignment) noexcept;
    template <WriteBarrier Barrier>
    [[nodiscard]] Expected<MemoryBlock> try_resize(Barrier barrier, MemoryBlock block, std::size_t new_size,
                                                   std::size_t alignment) noexcept;
    template <WriteBarrier Barrier>
    Expected<void> grow(Barrier barrier, std::size_t usable_bytes) noexcept;

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

    // Whether the bytes are of blocks in use, every one. Takes time as the free blocks are many. Requires:
    // check() is ok.
    [[nodiscard]] bool is_in_use(MemoryBlock block) const noexcept;

    // Walks every list, every free block and every bit: ok, or corrupt_data. The other form trusts nothing in
    // the image, not even its size, and reads only inside the given memory.
    [[nodiscard]] Status check() const noexcept { return check({base(), usable_bytes()}); }
    [[nodiscard]] static Status check(MemoryBlock image) noexcept;

    // For reports: it walks over all of the free memory, and trusts the image no more than check() does.
    // out_of_range, or corrupt_data when no heap is there or what leads to the address is damaged.
    [[nodiscard]] static Expected<Place> find_place(MemoryBlock image, const void* address) noexcept;

private:
    friend class TlsfHeapCheck;

    static constexpr NoWriteBarrier kNoBarrier{};

    explicit TlsfHeap(const Layout& layout) noexcept : TlsfControl(layout) {}

    void note_peak() noexcept {
        const std::uint32_t live = taken_units_ - quick_units_;
        if (live > peak_units_) peak_units_ = live;
    }

    // What every call changes at the front of the image; everything else is declared where it is written.
    template <WriteBarrier Barrier>
    void declare_control(Barrier barrier) noexcept {
        barrier.declare(this, sizeof(TlsfHeap));
    }
    template <WriteBarrier Barrier, class Word>
    static void put(Barrier barrier, Word& word, Word value) noexcept {
        barrier.declare(&word, sizeof(word));
        word = value;
    }
    // A record is declared once, whatever of it is stored.
    template <WriteBarrier Barrier>
    void declare_record(Barrier barrier, std::uint32_t record) noexcept {
        barrier.declare(at(record), kUnit);
    }
    OURO_LOOKS_INTO_FREE_MEMORY void store(std::uint32_t unit, std::size_t word,
                                           std::uint32_t value) noexcept {
        const annotate::QuietScope quiet;
        std::memcpy(at(unit) + word, &value, sizeof(value));
    }
    template <WriteBarrier Barrier>
    void store(Barrier barrier, std::uint32_t unit, std::size_t word, std::uint32_t value) noexcept {
        barrier.declare(at(unit) + word, sizeof(value));
        store(unit, word, value);
    }
    template <WriteBarrier Barrier>
    void mark(Barrier barrier, std::uint32_t unit) noexcept {
        std::uint64_t& word = bits()[unit / 64];
        put(barrier, word, word | std::uint64_t{1} << (unit % 64));
    }
    template <WriteBarrier Barrier>
    void unmark(Barrier barrier, std::uint32_t unit) noexcept {
        std::uint64_t& word = bits()[unit / 64];
        put(barrier, word, word & ~(std::uint64_t{1} << (unit % 64)));
    }

    // A small block kept for a request of this size, or 0.
    [[nodiscard, gnu::always_inline]] std::uint32_t take_quick(std::uint32_t units) noexcept {
        const std::uint32_t kept = quick_heads_[units - 1];
        if (kept != 0) [[likely]] {
            quick_heads_[units - 1] = load(kept, kNext);
            quick_units_ -= units;
            ++allocations_;
        }
        return kept;
    }
    [[gnu::always_inline]] void end_block([[maybe_unused]] std::uint32_t unit,
                                          [[maybe_unused]] std::uint32_t units) noexcept {
        OURO_DEBUG_BLOCK_ASSERT(holds(unit, units), "the block is not of this heap", nullptr, at(unit));
        OURO_BLOCK_ASSERT(!is_marked(unit), "the block is free already", nullptr, at(unit));
        note_peak();
        ++deallocations_;
    }
    template <WriteBarrier Barrier>
    [[nodiscard, gnu::always_inline]] bool keep_quick(Barrier barrier, std::uint32_t unit,
                                                      std::uint32_t units) noexcept {
        if (units > kQuickUnits || quick_units_ + units > quick_limit_units_) return false;
        OURO_BLOCK_ASSERT(quick_heads_[units - 1] != unit, "the block is free already", nullptr, at(unit));
        store(barrier, unit, kNext, quick_heads_[units - 1]);
        quick_heads_[units - 1] = unit;
        quick_units_ += units;
        return true;
    }

    // Lists of records; which of them are empty is noted by list and summed up by level. Who pushes or
    // relists a record has declared it.
    template <WriteBarrier Barrier>
    void note_filled(Barrier barrier, std::uint32_t list) noexcept;
    template <WriteBarrier Barrier>
    void note_emptied(Barrier barrier, std::uint32_t list) noexcept;
    template <WriteBarrier Barrier>
    void push(Barrier barrier, std::uint32_t list, std::uint32_t record) noexcept;
    template <WriteBarrier Barrier>
    void unlink(Barrier barrier, std::uint32_t list, std::uint32_t record) noexcept;
    template <WriteBarrier Barrier>
    void relist(Barrier barrier, std::uint32_t record, std::uint32_t from, std::uint32_t to) noexcept;
    // A record for the free block that starts at `unit`, where nothing is written yet; and the end of one.
    [[nodiscard]] inline std::uint32_t claim_record(std::uint32_t unit) noexcept;
    template <WriteBarrier Barrier>
    void release_record(Barrier barrier, std::uint32_t record) noexcept;
    [[nodiscard]] bool is_tabled(std::uint32_t record) const noexcept { return record < first_unit_; }
    // The tag of a chunk leads to the record of a block that begins or ends there, or the unit itself does.
    template <WriteBarrier Barrier>
    void set_tag(Barrier barrier, std::uint16_t& tag, std::uint32_t unit, std::uint32_t record) noexcept;
    template <WriteBarrier Barrier>
    void clear_tag(Barrier barrier, std::uint16_t& tag, std::uint32_t record) noexcept;

    // Whole free blocks: new ones, and ones that are no more.
    template <WriteBarrier Barrier>
    void insert(Barrier barrier, std::uint32_t unit, std::uint32_t units) noexcept;
    template <WriteBarrier Barrier>
    void remove(Barrier barrier, std::uint32_t record) noexcept;
    template <WriteBarrier Barrier>
    void take_front(Barrier barrier, std::uint32_t record, std::uint32_t units) noexcept;
    template <WriteBarrier Barrier>
    void give(Barrier barrier, std::uint32_t unit, std::uint32_t units) noexcept;
    template <WriteBarrier Barrier>
    void grow_up(Barrier barrier, std::uint32_t unit, std::uint32_t units, bool merges_behind) noexcept;
    template <WriteBarrier Barrier>
    void grow_down(Barrier barrier, std::uint32_t unit, std::uint32_t units) noexcept;
    // Merges quick blocks until there is room for so many units among them; or all of them.
    template <WriteBarrier Barrier>
    void make_quick_room(Barrier barrier, std::uint32_t units) noexcept;
    template <WriteBarrier Barrier>
    [[gnu::noinline]] void flush_quick(Barrier barrier) noexcept;

    template <WriteBarrier Barrier>
    [[nodiscard]] Expected<MemoryBlock> allocate_units(Barrier barrier, std::uint32_t units) noexcept;
    template <WriteBarrier Barrier>
    void deallocate_units(Barrier barrier, std::uint32_t unit, std::uint32_t units) noexcept;
    template <WriteBarrier Barrier>
    [[gnu::noinline]] Expected<MemoryBlock> allocate_scarce(Barrier barrier, std::uint32_t units) noexcept;
    template <WriteBarrier Barrier>
    [[nodiscard]] Expected<MemoryBlock> allocate_unusual(Barrier barrier, std::size_t size,
                                                         std::size_t alignment) noexcept;
    template <WriteBarrier Barrier>
    [[gnu::noinline]] void take_part(Barrier barrier, std::uint32_t record, std::uint32_t skipped,
                                     std::uint32_t units) noexcept;
    template <WriteBarrier Barrier>
    [[nodiscard]] Expected<MemoryBlock> slide_down(Barrier barrier, MemoryBlock block, std::uint32_t units,
                                                   std::size_t alignment) noexcept;
    template <WriteBarrier Barrier>
    [[nodiscard]] bool grow_behind(Barrier barrier, std::uint32_t unit, std::uint32_t old_units,
                                   std::uint32_t units) noexcept;

    // Without a barrier: what the calls above need where a kept block does not do.
    [[gnu::noinline]] Expected<MemoryBlock> allocate_units(std::uint32_t units) noexcept;
    [[gnu::noinline]] void deallocate_units(std::uint32_t unit, std::uint32_t units) noexcept;
    [[gnu::noinline]] Expected<MemoryBlock> allocate_unusual(std::size_t size,
                                                             std::size_t alignment) noexcept;
};

static_assert(std::is_standard_layout_v<TlsfHeap> && std::is_trivially_destructible_v<TlsfHeap>);
// No padding, whose bytes nobody would write.
static_assert(std::has_unique_object_representations_v<TlsfHeap>);
static_assert(sizeof(TlsfHeap) == 496 && sizeof(TlsfHeap) % TlsfHeap::kUnit == 0);

}  // namespace ouro
