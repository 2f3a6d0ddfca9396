// Blocks of whole units.
#include "heap_core_units.hpp"

#include <ouro/base/align.hpp>
#include <ouro/memory/detail/heap_core.hpp>

#include <algorithm>

namespace ouro::detail {
namespace {

constexpr std::size_t kUnitBytes = UnitMap::kUnitBytes;

}  // namespace

bool HeapCore::continues(std::size_t unit, UnitKind kind) const noexcept {
    const UnitKind own = kinds_[unit].load(std::memory_order_relaxed);
    if (kind != UnitKind::large_head) return own == kind;
    return own == UnitKind::large_body || begins(unit, RunPart::inside);
}

Expected<MemoryBlock> HeapCore::allocate_large(std::size_t size, std::size_t alignment,
                                               bool* reads_zero) noexcept {
    const std::size_t count = units_for(size);
    // With that many more, one of the first is aligned.
    const std::size_t spare = alignment > kUnitBytes ? alignment / kUnitBytes - 1 : 0;
    if (count > units_.unit_count() || spare > units_.unit_count()) return Status::capacity_exhausted;
    const auto run = units_.take(count + spare);
    if (!run) return run.status();
    const auto address = reinterpret_cast<std::uintptr_t>(units_.address_of(run->first));
    const std::size_t before = (align_up(address, std::max(alignment, kUnitBytes)) - address) / kUnitBytes;
    const std::size_t first = run->first + before;
    if (before != 0) units_.give_back(run->first, before);
    if (spare != before) units_.give_back(first + count, spare - before);
    slabs_[first].set_capacity(static_cast<std::uint32_t>(count));
    slabs_[first].size_class = kNoClass;
    slabs_[first].run_part.store(RunPart::live, std::memory_order_relaxed);
    set_kinds(first, count, UnitKind::large_head, UnitKind::large_body);
    note_taken(count);
    other_operations_.fetch_add(1, std::memory_order_relaxed);
    if (reads_zero != nullptr) *reads_zero = run->reads_zero;
    return MemoryBlock{units_.address_of(first), count * kUnitBytes};
}

void HeapCore::deallocate_large(std::byte* block) noexcept {
    const std::size_t first = unit_of_block(block);
    other_operations_.fetch_add(1, std::memory_order_relaxed);
    give_back(first, slabs_[first].capacity);
}

void HeapCore::deallocate_emptied(std::byte* block) noexcept {
    const std::size_t first = unit_of_block(block);
    const std::size_t count = slabs_[first].capacity;
    other_operations_.fetch_add(1, std::memory_order_relaxed);
    set_kinds(first, count, UnitKind::none, UnitKind::none);
    taken_bytes_.fetch_sub(count * kUnitBytes, std::memory_order_relaxed);
    tell_use();
    units_.give_back_empty(first, count);
}

std::uint32_t HeapCore::let_keep(std::uint32_t units) noexcept {
    std::size_t left = unpromised_units_.load(std::memory_order_relaxed);
    std::size_t given = 0;
    do
        given = std::min<std::size_t>(units, left);
    while (given != 0 &&
           !unpromised_units_.compare_exchange_weak(left, left - given, std::memory_order_relaxed));
    return static_cast<std::uint32_t>(given);
}

// Free units, those that the thread keeps, or both.
bool HeapCore::take_behind(std::size_t first, std::size_t count, ThreadHeap* heap) noexcept {
    const std::size_t kept = heap != nullptr ? heap->kept_units_at(first, count) : 0;
    if (kept == count) return heap->take_run_at(first, count);
    if (!units_.take_at(first + kept, count - kept)) return false;
    // Somebody may just have emptied the list.
    if (kept != 0 && !heap->take_run_at(first, kept)) {
        units_.give_back(first + kept, count - kept);
        return false;
    }
    set_kinds(first + kept, count - kept, UnitKind::large_body, UnitKind::large_body);
    note_taken(count - kept);
    return true;
}

MemoryBlock HeapCore::resize_large(std::byte* block, std::size_t new_size, ThreadHeap* heap) noexcept {
    const std::size_t first = unit_of_block(block);
    const std::size_t before = slabs_[first].capacity;
    const std::size_t after = units_for(new_size);
    if (after > before && !take_behind(first + before, after - before, heap)) return {};
    // Before the rest goes: see recover_lost_units().
    slabs_[first].set_capacity(static_cast<std::uint32_t>(after));
    if (after < before) give_back(first + after, before - after);
    return {block, after * kUnitBytes};
}

std::size_t HeapCore::large_size(const std::byte* block) const noexcept {
    return std::size_t{slabs_[unit_of_block(block)].capacity} * kUnitBytes;
}

}  // namespace ouro::detail
