#include "tlsf_heap_lists.hpp"

#include <ouro/memory/annotations.hpp>
#include <ouro/memory/detail/block_assert.hpp>

namespace ouro {

bool TlsfHeap::grow_behind(std::uint32_t unit, std::uint32_t old_units, std::uint32_t units) noexcept {
    const std::uint32_t behind = unit + old_units;
    const std::uint32_t more = units - old_units;
    if (!is_marked(behind)) return false;
    const std::uint32_t record = record_from(behind);
    if (load(record, kUnits) < more) return false;
    take_front(record, more);
    return true;
}

// Over the free memory before the block and, where there is some, behind it.
Expected<MemoryBlock> TlsfHeap::slide_down(MemoryBlock block, std::uint32_t units,
                                           std::size_t alignment) noexcept {
    const std::uint32_t unit = unit_of(block.data);
    const auto old_units = static_cast<std::uint32_t>((block.size + kUnit - 1) / kUnit);
    if (!is_marked(unit - 1)) return Status::capacity_exhausted;
    const std::uint32_t lower = record_up_to(unit - 1);
    const std::uint32_t before = load(lower, kUnits);
    const std::uint32_t start = unit - before;
    const std::uint32_t skipped = skip_to_alignment(start, alignment);
    const std::uint32_t end = unit + old_units;
    const std::uint32_t behind = is_marked(end) ? load(record_from(end), kUnits) : 0;
    const std::uint32_t have = before + old_units + behind;
    if (skipped >= before || have - skipped < units) return Status::capacity_exhausted;
    remove(lower);
    if (behind != 0) remove(record_from(end));
    const std::uint32_t target = start + skipped;
    // What the block holds may lie there already.
    annotate::permit_written(block_at(target, units));
    std::memmove(at(target), block.data, block.size);
    if (skipped != 0) insert(start, skipped);
    if (have - skipped > units) insert(target + units, have - skipped - units);
    return block_at(target, units);
}

Expected<MemoryBlock> TlsfHeap::try_resize(MemoryBlock block, std::size_t new_size,
                                           std::size_t alignment) noexcept {
    if (const Status asked = check_allocation(new_size, alignment); asked != Status::ok) return asked;
    if (new_size > kMaxRequest) return Status::size_overflow;
    const std::uint32_t unit = unit_of(block.data);
    const auto old_units = static_cast<std::uint32_t>((block.size + kUnit - 1) / kUnit);
    const auto units = static_cast<std::uint32_t>((new_size + kUnit - 1) / kUnit);
    OURO_BLOCK_ASSERT(holds(unit, old_units), "the block is not of this heap", nullptr, block.data);
    if (units < old_units) {
        note_peak();
        give(unit + units, old_units - units);
    } else if (units > old_units) {
        if (!grow_behind(unit, old_units, units)) return Status::capacity_exhausted;
        ++grown_in_place_;
    }
    return block_at(unit, units);
}

Expected<MemoryBlock> TlsfHeap::reallocate(MemoryBlock block, std::size_t new_size,
                                           std::size_t alignment) noexcept {
    if (block.is_null()) return allocate(new_size, alignment);
    const auto resized = try_resize(block, new_size, alignment);
    if (resized.status() != Status::capacity_exhausted) return resized;
    const auto units = static_cast<std::uint32_t>((new_size + kUnit - 1) / kUnit);
    if (const auto slid = slide_down(block, units, alignment)) {
        ++slid_down_;
        return slid;
    }
    const auto moved = allocate(new_size, alignment);
    if (!moved) return moved;
    annotate::permit(*moved);
    std::memcpy(moved->data, block.data, block.size);
    deallocate(block);
    ++moved_;
    return moved;
}

}  // namespace ouro
