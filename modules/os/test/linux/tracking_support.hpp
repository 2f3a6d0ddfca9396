#pragma once

#include <ouro/base/memory_block.hpp>
#include <ouro/os/virtual_memory.hpp>
#include <ouro/os/write_tracking.hpp>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <vector>

namespace ouro::os::testing_support {

// The numbers of the units that a scan of the whole range reports, in order; asks through a small array, so
// that resuming is exercised too.
template <class Tracker>
[[nodiscard]] std::vector<std::size_t> written_units(Tracker& tracker, MemoryBlock range, std::size_t unit,
                                                     AfterScan after) {
    std::vector<std::size_t> units;
    std::array<WrittenRange, 3> ranges;
    MemoryBlock rest = range;
    for (;;) {
        const auto result = tracker.scan(rest, ranges, after);
        if (!result) return {~std::size_t{0}};
        for (std::size_t i = 0; i < result->count; ++i) {
            const MemoryBlock block = ranges[i].block();
            for (std::size_t at = 0; at < block.size; at += unit) {
                units.push_back(static_cast<std::size_t>(block.data + at - range.data) / unit);
            }
        }
        if (result->resume == nullptr) return units;
        rest = {result->resume, static_cast<std::size_t>(range.end() - result->resume)};
    }
}

// True in `./test --long`: random campaigns then take their time.
[[nodiscard]] inline bool is_long_run() {
    return std::getenv("OURO_TEST_LONG") != nullptr;
}

inline void touch(MemoryBlock range, std::size_t unit, std::size_t index) {
    auto* byte = reinterpret_cast<volatile unsigned char*>(range.data + index * unit + unit / 2);
    *byte = static_cast<unsigned char>(*byte + 1);
}

}  // namespace ouro::os::testing_support
