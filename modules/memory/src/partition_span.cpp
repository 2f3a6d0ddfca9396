#include <ouro/base/bits.hpp>
#include <ouro/memory/partition_span.hpp>

namespace ouro::partition {

bool Span::is_slot_start(std::size_t unit) const noexcept {
    const std::size_t units = kClassBytes[class_index] / kSlotUnit;
    return unit % units == 0 && unit / units < capacity;
}

void Span::open(std::uint32_t index, std::size_t usable_bytes) noexcept {
    kind = SpanKind::slots;
    class_index = static_cast<std::uint8_t>(index);
    capacity = static_cast<std::uint32_t>(usable_bytes / kClassBytes[index]);
    free_count = 0;
    summary = 0;
    free_units.fill(0);
    for (std::uint32_t slot = 0; slot < capacity; ++slot)
        give_free(std::size_t{slot} * kClassBytes[index] / kSlotUnit);
}

std::size_t Span::taken_count() const noexcept {
    std::size_t count = 0;
    for (const std::uint64_t bits : taken_units)
        count += static_cast<std::size_t>(std::popcount(bits));
    return count;
}

bool Span::is_sound(std::size_t usable_bytes) const noexcept {
    if (class_index >= kClassCount || capacity != usable_bytes / kClassBytes[class_index]) return false;
    std::size_t free = 0;
    for (std::size_t word = 0; word < kWords; ++word) {
        if ((free_units[word] != 0) != ((summary >> word & 1) != 0)) return false;
        if ((free_units[word] & taken_units[word]) != 0) return false;
        bool starts = true;
        for_each_bit(free_units[word] | taken_units[word],
                     [&](unsigned bit) { starts = starts && is_slot_start(word * 64 + bit); });
        if (!starts) return false;
        free += static_cast<std::size_t>(std::popcount(free_units[word]));
    }
    return free == free_count && free + taken_count() <= capacity;
}

}  // namespace ouro::partition
