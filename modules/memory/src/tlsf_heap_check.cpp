// The walk over a heap that may have come from a file: nothing read from it is used before it is known to lie
// inside, and every loop is bounded by the size of the memory.
#include <ouro/base/bits.hpp>
#include <ouro/memory/tlsf_heap.hpp>

#include <algorithm>
#include <array>
#include <new>
#include <span>

namespace ouro {

class TlsfHeapCheck {
public:
    explicit TlsfHeapCheck(const TlsfHeap& heap) noexcept : heap_(heap) {}

    [[nodiscard]] static bool has_sound_control(const TlsfHeap& heap, std::size_t image_bytes) noexcept {
        if (heap.magic_ != TlsfHeap::kMagic || heap.version_ != TlsfHeap::kVersion) return false;
        const std::uint64_t capacity_bytes = std::uint64_t{heap.capacity_units_} * TlsfHeap::kUnit;
        if (capacity_bytes > TlsfHeap::kMaxBytes) return false;
        const TlsfHeap::Layout layout = TlsfHeap::layout_of(capacity_bytes);
        const bool same_layout =
            heap.first_unit_ == layout.first_unit && heap.bits_unit_ == layout.bits_unit &&
            heap.heads_unit_ == layout.heads_unit && heap.records_unit_ == layout.records_unit &&
            heap.tags_unit_ == layout.tags_unit && heap.slots_unit_ == layout.slots_unit &&
            heap.level_count_ == layout.level_count && heap.zone_bits_ == layout.zone_bits &&
            heap.zone_shift_ + heap.zone_bits_ ==
                static_cast<std::uint32_t>(std::bit_width(layout.capacity_units));
        return same_layout && heap.first_unit_ <= heap.end_unit_ && heap.end_unit_ <= heap.capacity_units_ &&
               std::uint64_t{heap.end_unit_} * TlsfHeap::kUnit <= image_bytes;
    }

    // Requires: a sound control.
    [[nodiscard]] bool is_sound() noexcept {
        return walk_tags() && walk_levels() && tags_name_blocks() && collect_quick() && walk_memory() &&
               walk_unused_records() && counts_agree();
    }

    // Requires: a sound control.
    [[nodiscard]] Expected<TlsfHeap::Place> place_of(std::uint32_t unit) const noexcept {
        if (unit < heap_.first_unit_)
            return TlsfHeap::Place{TlsfHeap::PlaceKind::control, heap_.block_at(0, heap_.first_unit_)};
        if (!walk_tags()) return Status::corrupt_data;
        std::size_t first = heap_.first_unit_;
        std::size_t free = find_set_bit(bits(), first);
        while (free <= unit) {
            const auto start = static_cast<std::uint32_t>(free);
            if (!is_inside(start)) return Status::corrupt_data;
            const std::uint32_t record = heap_.record_from(start);
            if (!is_record(record) || heap_.load(record, TlsfHeap::kStart) != start)
                return Status::corrupt_data;
            const std::uint32_t units = heap_.load(record, TlsfHeap::kUnits);
            first = free + units;
            if (unit < first) return free_place(start, units);
            free = find_set_bit(bits(), first);
        }
        const std::size_t end = std::min<std::size_t>(free, heap_.end_unit_);
        return place_beside_kept(unit, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end));
    }

private:
    [[nodiscard]] TlsfHeap::Place free_place(std::uint32_t unit, std::uint32_t units) const noexcept {
        return {TlsfHeap::PlaceKind::free, heap_.block_at(unit, units)};
    }

    // A unit between free blocks: blocks that are kept for the next request have no marks.
    [[nodiscard]] Expected<TlsfHeap::Place> place_beside_kept(std::uint32_t unit, std::uint32_t first,
                                                              std::uint32_t end) const noexcept {
        std::uint32_t seen_units = 0;
        for (std::uint32_t units = 1; units <= TlsfHeap::kQuickUnits; ++units) {
            std::uint32_t kept = heap_.quick_heads_[units - 1];
            for (; kept != 0; kept = heap_.load(kept, TlsfHeap::kNext)) {
                seen_units += units;
                if (!heap_.holds(kept, units) || seen_units > TlsfHeap::kMaxQuickUnits)
                    return Status::corrupt_data;
                if (unit >= kept && unit - kept < units) return free_place(kept, units);
                if (kept > unit)
                    end = std::min(end, kept);
                else
                    first = std::max(first, kept + units);
            }
        }
        return TlsfHeap::Place{TlsfHeap::PlaceKind::blocks, heap_.block_at(first, end - first)};
    }

    // To the end of the last unit: behind the last bit there is none.
    [[nodiscard]] std::span<const std::uint64_t> bits() const noexcept {
        return {heap_.bits(),
                TlsfHeap::bytes_of(heap_.first_unit_ - heap_.bits_unit_) / sizeof(std::uint64_t)};
    }

    [[nodiscard]] bool is_inside(std::uint32_t unit) const noexcept {
        return unit >= heap_.first_unit_ && unit < heap_.end_unit_;
    }

    [[nodiscard]] bool is_in_table(std::uint32_t record) const noexcept {
        return record > heap_.records_unit_ && record < heap_.tags_unit_;
    }

    // Of a block with marks at both ends, which both lead here.
    [[nodiscard]] bool is_record(std::uint32_t record) const noexcept {
        if (!is_in_table(record) && !is_inside(record)) return false;
        const std::uint32_t unit = heap_.load(record, TlsfHeap::kStart);
        const std::uint32_t units = heap_.load(record, TlsfHeap::kUnits);
        if (!heap_.holds(unit, units) || (unit != record && !is_in_table(record))) return false;
        const std::uint32_t last = unit + units - 1;
        return heap_.is_marked(unit) && heap_.is_marked(last) && heap_.record_from(unit) == record &&
               heap_.record_up_to(last) == record;
    }

    // Before anything else: from here on, every tag leads to a place in the table.
    [[nodiscard]] bool walk_tags() const noexcept {
        const std::uint32_t records = heap_.tags_unit_ - heap_.records_unit_;
        const std::uint32_t none = heap_.records_unit_;
        if (heap_.load(none, TlsfHeap::kStart) != 0 || heap_.load(none, TlsfHeap::kUnits) != 0 ||
            heap_.load(none, TlsfHeap::kNext) != 0 || heap_.load(none, TlsfHeap::kPrevious) != 0)
            return false;
        // To the end of the last unit: behind the last chunk there is none.
        const std::size_t chunks =
            TlsfHeap::bytes_of(heap_.bits_unit_ - heap_.tags_unit_) / sizeof(TlsfHeap::Tags);
        for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
            const TlsfHeap::Tags tags = heap_.tags_of(chunk * TlsfHeap::kChunkUnits);
            if (tags.first >= records || tags.last >= records) return false;
            const std::uint32_t first = heap_.load(none + tags.first, TlsfHeap::kStart);
            if (tags.first != 0 && first / TlsfHeap::kChunkUnits != chunk) return false;
            const std::uint32_t end = heap_.load(none + tags.last, TlsfHeap::kStart) +
                                      heap_.load(none + tags.last, TlsfHeap::kUnits);
            if (tags.last != 0 && (end - 1) / TlsfHeap::kChunkUnits != chunk) return false;
        }
        return true;
    }

    // An unused record may lie anywhere once it is claimed: no tag waits for it.
    [[nodiscard]] bool tags_name_blocks() const noexcept {
        for (std::uint64_t unit = 0; unit <= heap_.capacity_units_; unit += TlsfHeap::kChunkUnits) {
            const TlsfHeap::Tags tags = heap_.tags_of(static_cast<std::uint32_t>(unit));
            for (const std::uint32_t tag : {tags.first, tags.last}) {
                if (tag != 0 && !is_record(heap_.records_unit_ + tag)) return false;
            }
        }
        return true;
    }

    // Of the last unit of the slots, what is behind them.
    [[nodiscard]] bool is_padding_clear() const noexcept {
        const std::size_t all =
            TlsfHeap::bytes_of(heap_.heads_unit_ - heap_.slots_unit_) / sizeof(std::uint32_t);
        const std::span slots(&heap_.slots_of(0, 0), all);
        const std::size_t used = std::size_t{heap_.level_count_} << heap_.zone_bits_;
        return std::ranges::all_of(slots.last(all - used), [](std::uint32_t word) { return word == 0; });
    }

    [[nodiscard]] bool walk_levels() noexcept {
        if (!is_padding_clear()) return false;
        for (std::uint32_t level = static_cast<std::uint32_t>(heap_.reach_.size()); level-- > 0;) {
            if (level >= heap_.level_count_) {
                if (heap_.reach_[level] != 0) return false;
                continue;
            }
            for (std::uint32_t slot = 0; slot < TlsfHeap::kSlots; ++slot) {
                if (!walk_class(level * TlsfHeap::kSlots + slot)) return false;
            }
            if (!zones_agree(level)) return false;
        }
        return true;
    }

    // Requires: the classes of the level have been walked.
    [[nodiscard]] bool zones_agree(std::uint32_t level) const noexcept {
        std::uint64_t reach = heap_.reach_[level + 1];
        for (std::uint32_t zone = 0; zone < std::uint32_t{1} << heap_.zone_bits_; ++zone) {
            std::uint32_t slots = 0;
            for (std::uint32_t slot = 0; slot < TlsfHeap::kSlots; ++slot) {
                const std::uint64_t zones = heap_.zones_of(level * TlsfHeap::kSlots + slot);
                slots |= static_cast<std::uint32_t>(zones >> zone & 1) << slot;
            }
            if (heap_.slots_of(level, zone) != slots) return false;
            if (slots != 0) reach |= std::uint64_t{1} << zone;
        }
        return heap_.reach_[level] == reach;
    }

    [[nodiscard]] bool walk_class(std::uint32_t index) noexcept {
        const std::uint64_t zones = heap_.zones_of(index);
        const std::uint32_t count = std::uint32_t{1} << heap_.zone_bits_;
        if ((zones & ~low_mask<std::uint64_t>(count)) != 0) return false;
        for (std::uint32_t zone = 0; zone < count; ++zone) {
            if ((heap_.head_of(index, zone) != 0) != ((zones >> zone & 1) != 0)) return false;
            if (!walk_list(index, zone)) return false;
        }
        return true;
    }

    [[nodiscard]] bool walk_list(std::uint32_t index, std::uint32_t zone) noexcept {
        std::uint32_t previous = 0;
        for (std::uint32_t record = heap_.head_of(index, zone); record != 0;
             record = heap_.load(record, TlsfHeap::kNext)) {
            if (!is_record(record)) return false;
            const std::uint32_t units = heap_.load(record, TlsfHeap::kUnits);
            const std::uint32_t unit = heap_.load(record, TlsfHeap::kStart);
            if (TlsfHeap::class_of(units) != index || heap_.zone_of(unit) != zone) return false;
            if (heap_.load(record, TlsfHeap::kPrevious) != previous) return false;
            listed_units_ += units;
            // A list that runs in a circle ends here: together the blocks cannot be larger than the heap.
            if (listed_units_ > heap_.end_unit_) return false;
            ++listed_blocks_;
            if (is_in_table(record)) ++tabled_blocks_;
            previous = record;
        }
        return true;
    }

    // The small blocks kept for the next request: no unit is of two of them.
    [[nodiscard]] bool collect_quick() noexcept {
        if (heap_.quick_units_ > heap_.quick_limit_units_ ||
            heap_.quick_limit_units_ > TlsfHeap::kMaxQuickUnits ||
            heap_.quick_cursor_ >= TlsfHeap::kQuickUnits)
            return false;
        for (std::uint32_t units = 1; units <= TlsfHeap::kQuickUnits; ++units) {
            std::uint32_t unit = heap_.quick_heads_[units - 1];
            for (; unit != 0; unit = heap_.load(unit, TlsfHeap::kNext)) {
                if (!heap_.holds(unit, units) || units > heap_.quick_units_ - kept_units_) return false;
                for (std::uint32_t i = 0; i < units; ++i)
                    kept_[kept_units_++] = unit + i;
            }
        }
        const std::span<std::uint32_t> kept(kept_.data(), kept_units_);
        std::ranges::sort(kept);
        return kept_units_ == heap_.quick_units_ && std::ranges::adjacent_find(kept) == kept.end();
    }

    // From mark to mark: each begins a free block that does not touch another and has neither a mark nor a
    // kept block inside. A listed record begins at a mark; where none begins at the last unit of a block
    // found, all that are listed are found, and as many are found as are listed.
    [[nodiscard]] bool walk_memory() noexcept {
        const std::span<const std::uint64_t> bits = this->bits();
        std::size_t unit = find_set_bit(bits);
        while (unit < heap_.end_unit_) {
            if (!is_inside(static_cast<std::uint32_t>(unit))) return false;
            const std::uint32_t record = heap_.record_from(static_cast<std::uint32_t>(unit));
            if (!is_record(record) || heap_.load(record, TlsfHeap::kStart) != unit) return false;
            const std::uint32_t units = heap_.load(record, TlsfHeap::kUnits);
            const auto last = static_cast<std::uint32_t>(unit) + units - 1;
            if (units > 1 && (find_set_bit(bits, unit + 1) != last || is_listed_from(last))) return false;
            if (heap_.is_marked(last + 1) || is_kept_before(static_cast<std::uint32_t>(unit), last + 1))
                return false;
            found_units_ += units;
            ++found_blocks_;
            unit = find_set_bit(bits, unit + units);
        }
        return unit >= bits.size() * 64;
    }

    // Whether a record that begins at a unit where another block ends may be in a list. The unit can hold
    // what is left of a record that was there once, whole up to its links: who leaves a list writes those of
    // its neighbours, so that no two that are gone still name each other. The table holds no such rests.
    [[nodiscard]] bool is_listed_from(std::uint32_t unit) const noexcept {
        const std::uint32_t record = heap_.record_from(unit);
        if (!is_record(record) || heap_.load(record, TlsfHeap::kStart) != unit) return false;
        if (is_in_table(record)) return true;
        if (heap_.head_of(heap_.list_of(unit, heap_.load(record, TlsfHeap::kUnits))) == record) return true;
        // The first of a list's records that begins so has one before it that does not.
        const std::uint32_t previous = heap_.load(record, TlsfHeap::kPrevious);
        return previous != record && is_record(previous) && heap_.load(previous, TlsfHeap::kNext) == record;
    }

    // Whether a kept unit lies in [unit, end). Requires: none asked for before lies behind `unit`.
    [[nodiscard]] bool is_kept_before(std::uint32_t unit, std::uint32_t end) noexcept {
        while (passed_units_ < kept_units_ && kept_[passed_units_] < unit)
            ++passed_units_;
        return passed_units_ < kept_units_ && kept_[passed_units_] < end;
    }

    // Records that are not used hold nothing but their list, and are all in it.
    [[nodiscard]] bool walk_unused_records() noexcept {
        std::uint64_t unused = heap_.tags_unit_ - heap_.records_unit_ - 1 - tabled_blocks_;
        std::uint32_t record = heap_.free_record_;
        for (; record != 0 && unused != 0; --unused, record = heap_.load(record, TlsfHeap::kNext)) {
            if (!is_in_table(record) || heap_.load(record, TlsfHeap::kPrevious) != 0 ||
                heap_.load(record, TlsfHeap::kUnits) != 0 || heap_.load(record, TlsfHeap::kStart) != 0)
                return false;
        }
        return record == 0 && unused == 0;
    }

    [[nodiscard]] bool counts_agree() const noexcept {
        const std::uint32_t all = heap_.end_unit_ - heap_.first_unit_;
        const bool same_blocks = listed_blocks_ == found_blocks_ && listed_units_ == found_units_;
        const bool nothing_lost = found_units_ <= all && heap_.taken_units_ == all - found_units_ &&
                                  heap_.quick_units_ <= heap_.taken_units_;
        const std::uint32_t live_units = heap_.taken_units_ - heap_.quick_units_;
        const std::uint64_t live_blocks = heap_.allocations_ - heap_.deallocations_;
        return same_blocks && nothing_lost && heap_.allocations_ >= heap_.deallocations_ &&
               live_blocks <= live_units && (live_blocks == 0) == (live_units == 0) &&
               heap_.peak_units_ <= heap_.capacity_units_;
    }

    const TlsfHeap& heap_;
    std::uint64_t listed_units_ = 0;
    std::uint64_t listed_blocks_ = 0;
    std::uint64_t tabled_blocks_ = 0;
    std::uint64_t found_units_ = 0;
    std::uint64_t found_blocks_ = 0;
    // The units of blocks kept for the next request, in order; how many; and how many the walk has passed.
    std::array<std::uint32_t, TlsfHeap::kMaxQuickUnits> kept_;
    std::uint32_t kept_units_ = 0;
    std::uint32_t passed_units_ = 0;
};

bool TlsfHeap::is_in_use(MemoryBlock block) const noexcept {
    const MemoryBlock usable{at(first_unit_), bytes_of(end_unit_ - first_unit_)};
    if (block.size == 0 || !usable.contains(block)) return false;
    const std::span<const std::uint64_t> marks(bits(), end_unit_ / 64 + std::size_t{1});
    const std::size_t end = unit_of(block.end() - 1) + std::size_t{1};
    for (std::size_t unit = find_set_bit(marks); unit < end;) {
        const auto first = static_cast<std::uint32_t>(unit);
        const std::uint32_t units = load(record_from(first), kUnits);
        if (block_at(first, units).overlaps(block)) return false;
        unit = find_set_bit(marks, unit + units);
    }
    for (std::uint32_t units = 1; units <= kQuickUnits; ++units) {
        for (std::uint32_t unit = quick_heads_[units - 1]; unit != 0; unit = load(unit, kNext))
            if (block_at(unit, units).overlaps(block)) return false;
    }
    return true;
}

Status TlsfHeap::check(MemoryBlock image) noexcept {
    if (image.size < sizeof(TlsfHeap)) return Status::corrupt_data;
    const auto& heap = *std::launder(reinterpret_cast<const TlsfHeap*>(image.data));
    const bool sound = TlsfHeapCheck::has_sound_control(heap, image.size) && TlsfHeapCheck(heap).is_sound();
    return sound ? Status::ok : Status::corrupt_data;
}

Expected<TlsfHeap::Place> TlsfHeap::find_place(MemoryBlock image, const void* address) noexcept {
    if (!image.contains(address)) return Status::out_of_range;
    if (image.size < sizeof(TlsfHeap)) return Status::corrupt_data;
    const auto& heap = *std::launder(reinterpret_cast<const TlsfHeap*>(image.data));
    if (!TlsfHeapCheck::has_sound_control(heap, image.size)) return Status::corrupt_data;
    const std::uint32_t unit = heap.unit_of(static_cast<const std::byte*>(address));
    if (unit >= heap.end_unit_) return Status::out_of_range;
    return TlsfHeapCheck(heap).place_of(unit);
}

}  // namespace ouro
