#include "partition_lock.hpp"

#include <ouro/base/bits.hpp>
#include <ouro/memory/partition.hpp>
#include <ouro/os/virtual_memory.hpp>

namespace ouro {

using partition::kClassCount;
using partition::kNoSpan;
using partition::kSpanBytes;
using partition::Span;
using partition::SpanKind;

// Adds the spans of the list to those seen. A list that runs in a circle is longer than there are spans.
bool Partition::is_list_sound(std::uint32_t head, SpanKind kind, std::uint32_t class_index,
                              std::size_t& seen) const noexcept {
    const std::size_t total = bytes_ / kSpanBytes;
    std::uint32_t previous = kNoSpan;
    for (std::uint32_t index = head; index != kNoSpan; index = spans_[index].next) {
        if (index >= total || ++seen > total) return false;
        const Span& span = spans_[index];
        if (!span.is_listed || span.kind != kind || span.previous != previous) return false;
        const bool has_room = span.free_count != 0 && span.free_count != span.capacity;
        if (kind == SpanKind::slots && (span.class_index != class_index || !has_room)) return false;
        previous = index;
    }
    return true;
}

// Each slot in the cache is one of its class, and is not free or taken at the same time; none is there twice,
// or in the spans' own counts.
bool Partition::is_cache_sound(std::uint32_t class_index) const noexcept {
    const partition::Cache& cache = caches_[class_index];
    if (cache.count > cache.limit || cache.limit > partition::Cache::kMostSlots) return false;
    for (std::uint32_t place = 0; place < cache.count; ++place) {
        const std::size_t offset = offset_of(cache.slots[place]);
        if (offset >= bytes_ || offset % partition::kSlotUnit != 0) return false;
        const Span& span = spans_[offset / kSpanBytes];
        if (span.kind != SpanKind::slots || span.class_index != class_index) return false;
        const std::size_t unit = unit_of(offset);
        if (!span.is_slot_start(unit) || span.is_taken(unit) || test_bit(span.free_units, unit)) return false;
        for (std::uint32_t other = 0; other < place; ++other) {
            if (cache.slots[other] == cache.slots[place]) return false;
        }
    }
    return true;
}

// Adds what the span holds to what was found; slots in caches count as allocations there, memory of unused
// spans as reserved.
bool Partition::is_span_sound(std::uint32_t index, ResourceStats& found) const noexcept {
    const Span& span = spans_[index];
    if (test_bit(unused_spans_, index) != (span.kind == SpanKind::unused)) return false;
    switch (span.kind) {
        case SpanKind::unused:
            found.committed_bytes += span.kept_bytes;
            found.reserved_bytes += span.kept_bytes;
            return true;
        case SpanKind::continuation:
            return true;
        case SpanKind::slots:
            found.live_blocks += span.taken_count();
            found.live_bytes += span.taken_count() * partition::kClassBytes[span.class_index];
            // Slots that are neither here nor with the program are in a cache.
            found.allocations += span.capacity - span.free_count - span.taken_count();
            found.committed_bytes += usable_span_bytes();
            // One that is in no list is current, or has no free slot.
            return span.begin == base_ + std::size_t{index} * kSpanBytes &&
                   span.is_sound(usable_span_bytes()) &&
                   (span.is_listed || span.free_count == 0 || current_[span.class_index] == &span);
        case SpanKind::empty:
            found.committed_bytes += usable_span_bytes();
            return span.is_listed && span.capacity == 0;
        case SpanKind::large:
            break;
    }
    const std::size_t total = bytes_ / kSpanBytes;
    if (span.run_spans == 0 || span.run_spans > total - index) return false;
    for (std::uint32_t rest = index + 1; rest < index + span.run_spans; ++rest) {
        if (spans_[rest].kind != SpanKind::continuation) return false;
    }
    found.live_blocks += 1;
    found.live_bytes += span.block_bytes;
    found.committed_bytes += span.block_offset + span.block_bytes;
    return span.block_offset + span.block_bytes <= span.run_spans * kSpanBytes;
}

Status Partition::check() const noexcept {
    if (heap_) return heap_->check();
    const Lock lock(*this);
    std::size_t listed = 0;
    std::size_t cached = 0;
    for (std::uint32_t index = 0; index < kClassCount; ++index) {
        if (!is_list_sound(partial_[index], SpanKind::slots, index, listed)) return Status::corrupt_data;
        if (!is_cache_sound(index)) return Status::corrupt_data;
        cached += caches_[index].count;
        const Span* current = current_[index];
        if (current == nullptr) continue;
        if (current->kind != SpanKind::slots || current->class_index != index || current->is_listed)
            return Status::corrupt_data;
    }
    std::size_t empty = 0;
    if (!is_list_sound(empty_, SpanKind::empty, 0, empty) || empty != empty_count_)
        return Status::corrupt_data;
    ResourceStats found;
    std::size_t marked = 0;
    for (std::uint32_t index = 0; index < bytes_ / kSpanBytes; ++index) {
        if (!is_span_sound(index, found)) return Status::corrupt_data;
        const bool has_list = spans_[index].kind == SpanKind::slots || spans_[index].kind == SpanKind::empty;
        marked += has_list && spans_[index].is_listed ? 1U : 0U;
    }
    const bool counted = found.live_bytes == live_bytes_ && found.live_blocks == allocations_ - frees_ &&
                         found.committed_bytes == committed_bytes_ && found.reserved_bytes == kept_bytes_ &&
                         live_bytes_ <= peak_bytes_ && found.allocations == cached &&
                         marked == listed + empty;
    return counted ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro
