#include <ouro/base/align.hpp>
#include <ouro/base/bits.hpp>
#include <ouro/memory/partition_span.hpp>

namespace ouro::partition {

void Span::open(std::uint32_t index, std::size_t usable_bytes) noexcept {
    kind = SpanKind::slots;
    class_index = static_cast<std::uint8_t>(index);
    slot_bytes = kClassBytes[index];
    // Rounded up: exact for every offset in a span, whose product with the error stays below the shift.
    reciprocal = static_cast<std::uint32_t>(units_of(std::uint64_t{1} << 32, std::uint64_t{slot_bytes}));
    capacity = static_cast<std::uint32_t>(usable_bytes / slot_bytes);
    free_count = capacity;
    free_slots.fill(0);
    set_bits(free_slots, 0, capacity);
    summary = low_mask<std::uint64_t>(units_of(capacity, 64U));
}

bool Span::is_sound(std::size_t usable_bytes) const noexcept {
    if (class_index >= kClassCount || slot_bytes != kClassBytes[class_index]) return false;
    if (capacity != usable_bytes / slot_bytes) return false;
    std::uint32_t free = 0;
    for (std::uint32_t word = 0; word < kWords; ++word) {
        const std::uint64_t bits = free_slots[word];
        if ((bits != 0) != ((summary >> word & 1) != 0)) return false;
        free += static_cast<std::uint32_t>(std::popcount(bits));
    }
    return free == free_count && find_set_bit(free_slots, capacity) == kWords * 64;
}

}  // namespace ouro::partition
