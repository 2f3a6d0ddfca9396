// Walks over everything a small-object heap knows: its counts and its invariants.
#include <ouro/memory/detail/heap_core.hpp>

#include <bit>
#include <iterator>

namespace ouro::detail {

HeapCore::Counts HeapCore::count() const noexcept {
    Counts counts;
    const std::size_t usable = units_.usable_units();
    std::size_t large_blocks = 0;
    for (std::size_t unit = 0; unit < usable; ++unit) {
        const UnitKind kind = kinds_[unit].load(std::memory_order_relaxed);
        if (kind == UnitKind::large_head) {
            ++large_blocks;
            counts.live_bytes += std::size_t{slabs_[unit].capacity} * UnitMap::kUnitBytes;
        } else if (is_slab(kind) && slabs_[unit].units_back == 0) {
            const std::size_t used = slabs_[unit].used.load(std::memory_order_relaxed);
            counts.live_blocks += used;
            counts.live_bytes += used * kClassBytes[class_of_kind(kind)];
        }
    }
    counts.operations = other_operations_.load(std::memory_order_relaxed);
    for (const ThreadHeap* heap = heaps_.load(std::memory_order_acquire); heap != nullptr;
         heap = heap->next_heap) {
        ++counts.heaps;
        counts.operations += heap->operations();
        for (unsigned size_class = 0; size_class < kClassCount; ++size_class) {
            const std::size_t cached = heap->cached_blocks(size_class) + heap->queued_blocks(size_class);
            counts.queued_blocks += heap->queued_blocks(size_class);
            counts.cached_bytes += cached * kClassBytes[size_class];
            counts.live_blocks -= cached;
        }
    }
    counts.live_bytes -= counts.cached_bytes;
    counts.live_blocks += large_blocks;
    counts.orphans = orphans_.load(std::memory_order_relaxed);
    return counts;
}

Status HeapCore::check() const noexcept {
    const Status units = check_units();
    if (units != Status::ok) return units;
    for (const ThreadHeap* heap = heaps_.load(std::memory_order_acquire); heap != nullptr;
         heap = heap->next_heap) {
        const Status status = heap->check();
        if (status != Status::ok) return status;
    }
    return Status::ok;
}

Status HeapCore::check_units() const noexcept {
    const std::size_t usable = units_.usable_units();
    for (std::size_t unit = 0; unit < usable;) {
        const UnitKind kind = kinds_[unit].load(std::memory_order_relaxed);
        std::size_t count = 1;
        if (kind == UnitKind::large_head) count = slabs_[unit].capacity;
        if (is_slab(kind)) count = slabs_[unit].units;
        if (kind == UnitKind::large_body || count == 0 || count > usable - unit) return Status::corrupt_data;
        for (std::size_t part = unit; part < unit + count; ++part) {
            if (units_.is_taken(part) != (kind != UnitKind::none)) return Status::corrupt_data;
            const UnitKind body = is_slab(kind) ? kind : UnitKind::large_body;
            if (part != unit && kinds_[part].load(std::memory_order_relaxed) != body)
                return Status::corrupt_data;
        }
        if (is_slab(kind) && check_slab(unit) != Status::ok) return Status::corrupt_data;
        unit += count;
    }
    return Status::ok;
}

Status HeapCore::check_slab(std::size_t unit) const noexcept {
    const Slab& slab = slabs_[unit];
    const unsigned size_class = class_of_kind(kinds_[unit].load(std::memory_order_relaxed));
    const bool fits =
        slab.size_class == size_class && slab.units_back == 0 &&
        (slab.units == slab_units(size_class) || slab.units == 1) &&
        slab.capacity == slab_capacity(size_class, slab.units) && slab.first_fresh <= slab.capacity &&
        slab.owner.load(std::memory_order_relaxed) != nullptr && slab.is_listed == slab.has_blocks();
    if (!fits) return Status::corrupt_data;
    std::size_t free = 0;
    const std::size_t words = slab.has_few() ? 1 : std::size(SlabBitmap{}.words);
    for (std::size_t word = 0; word < words; ++word) {
        const bool any = slab.has_few() || (slab.returned >> word) % 2 != 0;
        const std::uint64_t bits = slab.has_few() ? slab.returned : any ? bitmap_of(slab).words[word] : 0;
        if (!slab.has_few() && any != (bits != 0)) return Status::corrupt_data;
        const auto highest = static_cast<std::size_t>(std::bit_width(bits));
        if (highest != 0 && word * 64 + highest > slab.first_fresh) return Status::corrupt_data;
        free += static_cast<std::size_t>(std::popcount(bits));
    }
    const std::size_t out = slab.used.load(std::memory_order_relaxed);
    return free + out == slab.first_fresh ? Status::ok : Status::corrupt_data;
}

Status ThreadHeap::check() const noexcept {
    std::size_t empty_units = 0;
    for (unsigned size_class = 0; size_class < kClassCount; ++size_class) {
        const std::uint32_t cached = cached_blocks(size_class);
        if (cached > limits_[size_class] || limits_[size_class] > capacity(size_class))
            return Status::corrupt_data;
        const void* const* const first = bins_[size_class].bottom.load(std::memory_order_relaxed);
        for (std::uint32_t index = 0; index < cached; ++index) {
            const void* const block = first[index];
            const bool is_ours =
                core_.units().owns(block) && core_.kind_of(block) == kind_of_class(size_class);
            if (!is_ours) return Status::corrupt_data;
        }
        const Slab* previous = nullptr;
        for (const Slab* slab = bins_[size_class].slabs; slab != nullptr; slab = slab->next) {
            const bool fits = slab->is_listed && slab->previous == previous &&
                              slab->size_class == size_class &&
                              slab->owner.load(std::memory_order_relaxed) == this;
            if (!fits) return Status::corrupt_data;
            previous = slab;
            if (slab->used.load(std::memory_order_relaxed) == 0) empty_units += slab->units;
        }
    }
    return empty_units == empty_units_ ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro::detail
