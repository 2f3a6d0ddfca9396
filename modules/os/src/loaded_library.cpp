#include <ouro/os/loaded_library.hpp>

namespace ouro::os {

std::size_t LibraryData::bytes() const noexcept {
    std::size_t sum = 0;
    for (const MemoryBlock& range : ranges())
        sum += range.size;
    return sum;
}

bool LibraryData::add(MemoryBlock range) noexcept {
    if (range.size == 0) return true;
    if (count_ == kMaxRanges) return false;
    ranges_[count_++] = range;
    return true;
}

bool LibraryData::remove(MemoryBlock hole) noexcept {
    const LibraryData before = *this;
    count_ = 0;
    for (const MemoryBlock& range : before.ranges()) {
        if (!range.overlaps(hole)) {
            if (!add(range)) return false;
            continue;
        }
        const bool has_front = hole.data > range.data;
        const bool has_back = hole.end() < range.end();
        if (has_front && !add({range.data, static_cast<std::size_t>(hole.data - range.data)})) return false;
        if (has_back && !add({hole.end(), static_cast<std::size_t>(range.end() - hole.end())})) return false;
    }
    return true;
}

}  // namespace ouro::os
