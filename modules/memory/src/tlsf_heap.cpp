#include <ouro/memory/detail/tlsf_operations.hpp>

namespace ouro::detail {
namespace {

// How many blocks are looked at where nothing promises a fit: bounds on the time of a call.
constexpr int kScarceSteps = 64;
constexpr int kAlignedSteps = 8;

}  // namespace

// A block of the lowest class that has one, from this one upwards.
std::uint32_t TlsfControl::any_from(std::uint32_t index) const noexcept {
    for (; index < level_count_ * kSlots; ++index) {
        if (zones_of(index) != 0) return lowest_of(index);
    }
    return 0;
}

// Where choose() finds nothing: what fits best, and in any case something if a class promises it.
std::uint32_t TlsfControl::find_scarce(std::uint32_t units, std::size_t alignment) const noexcept {
    if (const std::uint32_t record = find_fit(units, alignment, kScarceSteps); record != 0) return record;
    const std::uint32_t worst = units + static_cast<std::uint32_t>(alignment / kUnit) - 1;
    return any_from(class_fitting(worst));
}

std::uint32_t TlsfControl::skip_to_alignment(std::uint32_t unit, std::size_t alignment) const noexcept {
    return static_cast<std::uint32_t>(padding_to(at(unit), alignment) / kUnit);
}

// The first of a bounded number of blocks that happens to fit, from the class of the size itself upwards.
std::uint32_t TlsfControl::find_fit(std::uint32_t units, std::size_t alignment, int steps) const noexcept {
    for (std::uint32_t index = class_of(units); index < level_count_ * kSlots; ++index) {
        std::uint64_t zones = zones_of(index);
        for (; zones != 0; zones &= zones - 1) {
            std::uint32_t record = head_of(index, static_cast<std::uint32_t>(std::countr_zero(zones)));
            for (; record != 0; record = load(record, kNext)) {
                const std::uint32_t have = load(record, kUnits);
                const std::uint32_t start = load(record, kStart);
                if (have >= units && have - units >= skip_to_alignment(start, alignment)) return record;
                if (--steps == 0) return 0;
            }
        }
    }
    return 0;
}

// A block that happens to be aligned may be large enough without room for the worst skip.
std::uint32_t TlsfControl::choose_aligned(std::uint32_t units, std::size_t alignment) const noexcept {
    if (const std::uint32_t record = find_fit(units, alignment, kAlignedSteps); record != 0) return record;
    const std::uint32_t worst = units + static_cast<std::uint32_t>(alignment / kUnit) - 1;
    if (const std::uint32_t record = choose(worst); record != 0) return record;
    return find_scarce(units, alignment);
}

}  // namespace ouro::detail

namespace ouro {

Expected<MemoryBlock> TlsfHeap::allocate_units(std::uint32_t units) noexcept {
    return allocate_units(kNoBarrier, units);
}

void TlsfHeap::deallocate_units(std::uint32_t unit, std::uint32_t units) noexcept {
    deallocate_units(kNoBarrier, unit, units);
}

Expected<MemoryBlock> TlsfHeap::allocate_unusual(std::size_t size, std::size_t alignment) noexcept {
    return allocate_unusual(kNoBarrier, size, alignment);
}

}  // namespace ouro
