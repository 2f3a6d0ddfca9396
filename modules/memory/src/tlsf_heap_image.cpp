// How a heap lies in its image: made, opened, grown and cut at the end.
#include <ouro/base/align.hpp>
#include <ouro/memory/detail/tlsf_operations.hpp>

#include <algorithm>
#include <new>

namespace ouro::detail {
namespace {

constexpr std::uint32_t kMaxZoneBits = 4;
// Images of so many units (a power of two of them) and less are one zone.
constexpr std::uint32_t kOneZoneBits = 17;

}  // namespace

TlsfControl::Layout TlsfControl::layout_of(std::uint64_t image_bytes) noexcept {
    Layout layout{};
    layout.capacity_units = static_cast<std::uint32_t>(image_bytes / kUnit);
    layout.level_count = class_of(layout.capacity_units) / kSlots + 1;
    const auto width = static_cast<std::uint32_t>(std::bit_width(layout.capacity_units));
    layout.zone_bits = std::min(width - std::min(width, kOneZoneBits), kMaxZoneBits);
    const std::uint64_t classes = std::uint64_t{layout.level_count} * kSlots;
    const std::uint64_t zones_end = sizeof(TlsfControl) + classes * sizeof(std::uint64_t);
    layout.slots_unit = static_cast<std::uint32_t>(units_of<std::uint64_t>(zones_end, kUnit));
    const std::uint64_t slots = std::uint64_t{layout.level_count} << layout.zone_bits;
    layout.heads_unit = layout.slots_unit + static_cast<std::uint32_t>(units_of<std::uint64_t>(
                                                slots * sizeof(std::uint32_t), kUnit));
    const std::uint64_t heads = classes << layout.zone_bits;
    layout.records_unit = layout.heads_unit + static_cast<std::uint32_t>(units_of<std::uint64_t>(
                                                  heads * sizeof(std::uint32_t), kUnit));
    // The first one is nobody's: it is what no tag stands for.
    layout.tags_unit =
        layout.records_unit + 1 + std::min(layout.capacity_units / kUnitsPerRecord, kMaxRecords - 1);
    const std::uint64_t chunks = layout.capacity_units / kChunkUnits + std::uint64_t{1};
    layout.bits_unit =
        layout.tags_unit + static_cast<std::uint32_t>(units_of<std::uint64_t>(chunks * sizeof(Tags), kUnit));
    // One bit more than units, so that whoever asks for the unit behind the last block finds it unmarked.
    const std::uint64_t words = layout.capacity_units / 64 + std::uint64_t{1};
    layout.first_unit = layout.bits_unit + static_cast<std::uint32_t>(
                                               units_of<std::uint64_t>(words * sizeof(std::uint64_t), kUnit));
    return layout;
}

TlsfControl::TlsfControl(const Layout& layout) noexcept
    : capacity_units_(layout.capacity_units),
      first_unit_(layout.first_unit),
      end_unit_(layout.first_unit),
      slots_unit_(layout.slots_unit),
      heads_unit_(layout.heads_unit),
      records_unit_(layout.records_unit),
      tags_unit_(layout.tags_unit),
      bits_unit_(layout.bits_unit),
      level_count_(layout.level_count),
      zone_bits_(layout.zone_bits),
      zone_shift_(static_cast<std::uint32_t>(std::bit_width(layout.capacity_units)) - layout.zone_bits),
      quick_limit_units_(std::min(layout.capacity_units / kQuickShare, kMaxQuickUnits)) {}

}  // namespace ouro::detail

namespace ouro {

std::size_t TlsfHeap::control_bytes(std::size_t image_bytes) noexcept {
    return bytes_of(layout_of(std::min<std::uint64_t>(image_bytes, kMaxBytes)).first_unit);
}

Expected<std::size_t> TlsfHeap::image_bytes_for(std::size_t size, std::size_t alignment) noexcept {
    if (const Status asked = check_allocation(size, alignment); asked != Status::ok) return asked;
    // Twice the slack that a search by class can ask for, and what the alignment may skip.
    const auto slack = checked_add(size / kSlots * 2 + 2 * kUnit, alignment);
    const auto blocks = slack ? checked_add(size, *slack) : slack;
    // What is added for the control may ask for more of it: a level more, a few records.
    auto whole = blocks;
    while (whole) {
        const auto need = checked_add(*blocks, control_bytes(*whole) + kUnit);
        if (need && *need <= *whole) break;
        whole = need;
    }
    return whole;
}

Expected<TlsfHeap*> TlsfHeap::create_in(MemoryBlock image, std::size_t usable_bytes) noexcept {
    return create_in(kNoBarrier, image, usable_bytes);
}

Expected<TlsfHeap*> TlsfHeap::open(MemoryBlock image) noexcept {
    if (!is_aligned(image.data, kUnit)) return Status::bad_alignment;
    if (const Status status = check(image); status != Status::ok) return status;
    return std::launder(reinterpret_cast<TlsfHeap*>(image.data));
}

Expected<void> TlsfHeap::grow(std::size_t usable_bytes) noexcept {
    return grow(kNoBarrier, usable_bytes);
}

std::size_t TlsfHeap::shrink() noexcept {
    flush_quick(kNoBarrier);
    if (end_unit_ > first_unit_ && is_marked(end_unit_ - 1)) {
        const std::uint32_t record = record_up_to(end_unit_ - 1);
        const std::uint32_t units = load(record, kUnits);
        remove(kNoBarrier, record);
        end_unit_ -= units;
        taken_units_ -= units;
    }
    return bytes_of(end_unit_);
}

TlsfHeap::Stats TlsfHeap::stats() const noexcept {
    const std::uint32_t live_units = taken_units_ - quick_units_;
    return {.live_bytes = std::uint64_t{live_units} * kUnit,
            .peak_bytes = std::uint64_t{std::max(live_units, peak_units_)} * kUnit,
            .live_blocks = allocations_ - deallocations_,
            .allocations = allocations_,
            .grown_in_place = grown_in_place_,
            .slid_down = slid_down_,
            .moved = moved_};
}

}  // namespace ouro
