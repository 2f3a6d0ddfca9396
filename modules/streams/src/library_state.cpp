#include <ouro/os/loaded_library.hpp>
#include <ouro/streams/library_state.hpp>

namespace ouro {

Expected<std::size_t> keep_library(StateRing& ring, std::string_view segment, std::string_view library,
                                   std::span<const MemoryBlock> except) noexcept {
    auto data = os::find_library_data(library);
    if (!data) return data.status();
    for (const MemoryBlock& hole : except)
        if (!data->remove(hole)) return Status::capacity_exhausted;
    const std::span ranges = data->ranges();
    for (std::size_t index = 0; index < ranges.size(); ++index) {
        const auto kept = ring.keep_outside(segment, ranges[index], library);
        if (kept) continue;
        for (const MemoryBlock& range : ranges.first(index))
            (void)ring.release_outside(range);
        return kept.status();
    }
    return data->bytes();
}

}  // namespace ouro
