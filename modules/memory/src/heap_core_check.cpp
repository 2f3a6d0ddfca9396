// Walks over everything a small-object heap knows: its counts and its invariants.
#include <ouro/memory/detail/heap_core.hpp>

#include <algorithm>
#include <bit>
#include <iterator>

namespace ouro::detail {

HeapCore::Counts HeapCore::count() const noexcept {
    Counts counts;
    const std::size_t usable = units_.usable_units();
    std::size_t large_blocks = 0;
    std::size_t large_bytes = 0;
    std::size_t cached_blocks = 0;
    std::size_t kept_bytes = 0;
    for (std::size_t unit = 0; unit < usable; ++unit) {
        const UnitKind kind = kinds_[unit].load(std::memory_order_relaxed);
        if (begins(unit, RunPart::live)) {
            ++large_blocks;
            // Where it has just become a slab, that is a number of blocks.
            const std::size_t units = std::min<std::size_t>(slabs_[unit].seen_capacity(), usable - unit);
            large_bytes += units * UnitMap::kUnitBytes;
        } else if (is_slab(kind) && slabs_[unit].units_back.load(std::memory_order_relaxed) == 0) {
            const std::size_t used = slabs_[unit].used.load(std::memory_order_relaxed);
            counts.live_blocks += used;
            counts.live_bytes += used * kClassBytes[class_of_kind(kind)];
        }
    }
    counts.operations = other_operations_.load(std::memory_order_relaxed);
    for (const ThreadHeap* heap = heaps_.load(std::memory_order_acquire); heap != nullptr;
         heap = heap->next_heap) {
        ++counts.heaps;
        if (heap->state.load(std::memory_order_relaxed) == ThreadHeap::State::orphan) ++counts.orphans;
        counts.operations += heap->operations();
        // What a lost one kept is free: see recover_lost_units().
        if (!heap->is_lost()) kept_bytes += heap->kept_units() * UnitMap::kUnitBytes;
        for (unsigned size_class = 0; size_class < kClassCount; ++size_class) {
            const std::size_t cached = heap->cached_blocks(size_class) + heap->queued_blocks(size_class);
            counts.queued_blocks += heap->queued_blocks(size_class);
            counts.cached_bytes += cached * kClassBytes[size_class];
            cached_blocks += cached;
        }
    }
    for (unsigned size_class = 0; size_class < kClassCount; ++size_class) {
        const std::size_t arrived = arrived_blocks(size_class);
        counts.queued_blocks += arrived;
        counts.cached_bytes += arrived * kClassBytes[size_class];
        cached_blocks += arrived;
    }
    // Threads at work move blocks between slabs and caches while both are summed up: some may be missing in
    // the one sum and counted in the other.
    counts.live_blocks = large_blocks + counts.live_blocks - std::min(counts.live_blocks, cached_blocks);
    counts.live_bytes = large_bytes + counts.live_bytes - std::min(counts.live_bytes, counts.cached_bytes);
    counts.cached_bytes += kept_bytes;
    counts.orphan_visits = orphan_visits_.load(std::memory_order_relaxed);
    return counts;
}

Status HeapCore::check() const noexcept {
    const Status units = check_units();
    if (units != Status::ok) return units;
    for (const ThreadHeap* heap = heaps_.load(std::memory_order_acquire); heap != nullptr;
         heap = heap->next_heap) {
        if (heap->is_lost()) continue;
        const Status status = heap->check();
        if (status != Status::ok) return status;
    }
    if (check_kept_runs() != Status::ok) return Status::corrupt_data;
    // After a fork, what the heaps of lost threads had in their hands is nowhere, or in two places.
    if (has_lost_heap()) return Status::ok;
    const Status queues = check_queues();
    return queues == Status::ok ? check_free_blocks() : queues;
}

bool HeapCore::has_lost_heap() const noexcept {
    for (const ThreadHeap* heap = heaps_.load(std::memory_order_acquire); heap != nullptr;
         heap = heap->next_heap)
        if (heap->is_lost()) return true;
    return false;
}

// What the heaps know is right, and there are no others.
Status HeapCore::check_kept_runs() const noexcept {
    std::size_t units = 0;
    for (std::size_t unit = 0; unit < units_.usable_units(); ++unit)
        if (begins(unit, RunPart::kept)) units += slabs_[unit].capacity;
    for (const ThreadHeap* heap = heaps_.load(std::memory_order_acquire); heap != nullptr;
         heap = heap->next_heap)
        if (!heap->is_lost()) units -= heap->kept_units();
    const std::size_t unpromised = unpromised_units_.load(std::memory_order_relaxed);
    const bool all_fit = units == 0 && unpromised + promised_units() == all_kept_units_;
    return all_fit ? Status::ok : Status::corrupt_data;
}

Status HeapCore::check_queues() const noexcept {
    ThreadHeap::Traffic traffic;
    for (const ThreadHeap* heap = heaps_.load(std::memory_order_acquire); heap != nullptr;
         heap = heap->next_heap)
        if (heap->check_queues(traffic) != Status::ok) return Status::corrupt_data;
    bool all_fit = traffic.received == traffic.sent;
    for (unsigned size_class = 0; size_class < kClassCount; ++size_class)
        all_fit &= traffic.arrived_blocks[size_class] == arrived_blocks(size_class);
    return all_fit ? Status::ok : Status::corrupt_data;
}

bool HeapCore::is_block(unsigned size_class, const void* address) const noexcept {
    if (!units_.owns(address) || kind_of(address) != kind_of_class(size_class)) return false;
    const Slab& slab = slab_of(address);
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - address_of(slab));
    const std::uint32_t index = block_index(size_class, offset);
    // Where blocks do not fill the slab, what lies behind them is none.
    return index < slab.capacity && index * kClassBytes[size_class] == offset;
}

bool HeapCore::are_out(unsigned size_class, std::size_t word, std::uint64_t blocks) const noexcept {
    const std::size_t unit = word / SlabBitmap::kWords;
    const std::size_t local = word % SlabBitmap::kWords;
    if (blocks == 0 || unit >= units_.usable_units()) return false;
    const Slab& slab = slabs_[unit];
    if (kinds_[unit].load(std::memory_order_relaxed) != kind_of_class(size_class) ||
        slab.units_back.load(std::memory_order_relaxed) != 0)
        return false;
    if (local * 64 + static_cast<std::size_t>(std::bit_width(blocks)) > slab.first_fresh) return false;
    if (slab.has_few()) return (slab.returned & blocks) == 0;
    return (slab.returned >> local) % 2 == 0 || (bitmap_of(slab).words[local] & blocks) == 0;
}

Status HeapCore::check_units() const noexcept {
    const std::size_t usable = units_.usable_units();
    for (std::size_t unit = 0; unit < usable;) {
        const UnitKind kind = kinds_[unit].load(std::memory_order_relaxed);
        std::size_t count = 1;
        if (kind == UnitKind::large_head) count = slabs_[unit].capacity;
        if (is_slab(kind)) count = slabs_[unit].units;
        if (kind == UnitKind::large_body || begins(unit, RunPart::inside) || count == 0 ||
            count > usable - unit)
            return Status::corrupt_data;
        for (std::size_t part = unit; part < unit + count; ++part) {
            if (units_.is_taken(part) != (kind != UnitKind::none)) return Status::corrupt_data;
            if (part != unit && !continues(part, kind)) return Status::corrupt_data;
        }
        if (is_slab(kind) && check_slab(unit) != Status::ok) return Status::corrupt_data;
        unit += count;
    }
    return Status::ok;
}

Status HeapCore::check_slab(std::size_t unit) const noexcept {
    const Slab& slab = slabs_[unit];
    const ThreadHeap* const owner = slab.owner.load(std::memory_order_relaxed);
    if (owner != nullptr && owner->is_lost()) return Status::ok;
    const unsigned size_class = class_of_kind(kinds_[unit].load(std::memory_order_relaxed));
    const bool fits = slab.size_class == size_class && slab.units_back.load(std::memory_order_relaxed) == 0 &&
                      (slab.units == slab_units(size_class) || slab.units == 1) &&
                      slab.capacity == slab_capacity(size_class, slab.units) &&
                      slab.first_fresh <= slab.capacity && owner != nullptr &&
                      slab.is_listed == slab.has_blocks();
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
            if (!core_.is_block(size_class, block)) return Status::corrupt_data;
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
    return empty_units == empty_units_ ? check_runs() : Status::corrupt_data;
}

Status ThreadHeap::check_runs() const noexcept {
    if (runs_.units() > runs_.limit_units() || runs_.limit_units() > runs_.most_units())
        return Status::corrupt_data;
    std::size_t units = 0;
    for (unsigned place = 0; place < KeptRuns::kMostRuns; ++place) {
        if ((runs_.places() >> place) % 2 == 0) continue;
        const KeptRun run = runs_.at(place);
        const std::size_t end = std::size_t{run.first} + run.units;
        // Neighbours are one.
        const bool fits = run.units != 0 && run.first < core_.units().usable_units() &&
                          core_.is_kept_by(*this, run) && runs_.is_sound(place) &&
                          core_.run_place(run.first) == place && core_.run_place(end - 1) == place &&
                          !runs_.begins_at(core_.run_place(end), end);
        if (!fits) return Status::corrupt_data;
        units += run.units;
    }
    return units == runs_.units() ? Status::ok : Status::corrupt_data;
}

bool ThreadHeap::check_arrivals(const Arrivals& arrivals, Traffic& traffic) const noexcept {
    const Slab& slab = core_.slab_of(arrivals);
    const std::uint64_t summary = arrivals.summary.load(std::memory_order_relaxed);
    bool all_fit = summary != 0;
    for (std::size_t word = 0; word < std::size(arrivals.words); ++word) {
        const std::uint64_t blocks = arrivals.words[word].load(std::memory_order_relaxed);
        if (blocks == 0) continue;
        const bool fits = (summary >> word) % 2 != 0 && slab.size_class < kClassCount &&
                          core_.are_out(slab.size_class, core_.first_word_of(slab) + word, blocks);
        if (!fits) return false;
        traffic.arrived_blocks[slab.size_class] += static_cast<std::uint32_t>(std::popcount(blocks));
    }
    return all_fit;
}

Status ThreadHeap::check_queues(Traffic& traffic) const noexcept {
    for (unsigned index = 0; index < kParcels; ++index)
        traffic.sent += parcels()[index].is_taken.load(std::memory_order_relaxed) ? 1U : 0U;
    for (unsigned size_class = 0; size_class < kClassCount; ++size_class) {
        const Queue& queue = queue_[size_class];
        std::size_t blocks = 0;
        for (const Parcel* parcel = queue.parcels.load(std::memory_order_acquire); parcel != nullptr;
             parcel = parcel->next) {
            ++traffic.received;
            const bool fits = parcel->is_taken.load(std::memory_order_relaxed) && parcel->count != 0 &&
                              parcel->count <= Parcel::kEntries;
            if (!fits) return Status::corrupt_data;
            for (std::uint32_t index = 0; index < parcel->count; ++index) {
                const Parcel::Entry& entry = parcel->entries[index];
                if (!core_.are_out(size_class, entry.word, entry.blocks)) return Status::corrupt_data;
                blocks += static_cast<std::size_t>(std::popcount(entry.blocks));
            }
        }
        if (blocks != queued_blocks(size_class)) return Status::corrupt_data;
        for (const Arrivals* arrivals = queue.arrivals.load(std::memory_order_acquire); arrivals != nullptr;
             arrivals = arrivals->next)
            if (!check_arrivals(*arrivals, traffic)) return Status::corrupt_data;
    }
    return Status::ok;
}

}  // namespace ouro::detail
