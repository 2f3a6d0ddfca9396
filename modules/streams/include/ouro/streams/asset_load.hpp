#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ouro {

enum class LoadWay : std::uint8_t {
    // Copied to its place: from then on the file does not matter.
    read,
    // Its pages are read when they are first touched, and given up under pressure. The file must keep its
    // length while the asset lives: touching what it lost is a fault of the whole process.
    map,
};

struct LoadProgress {
    std::string_view name;
    std::uint64_t done_bytes = 0;
    std::uint64_t total_bytes = 0;
};

// Called before the first byte, after each step, and at the end; returns false to cancel. The stack answers
// busy meanwhile.
using LoadCallback = bool (*)(const LoadProgress& progress, void* context);

struct LoadOptions {
    // What the asset is called; the file's own name, without its folders, when empty.
    std::string_view name = {};
    LoadWay way = LoadWay::read;
    // Of the first byte; a mapped file begins on a page.
    std::size_t alignment = 64;
    // How long the file must be, where that is known: another length is corrupt_data. Zero: any.
    std::uint64_t expected_bytes = 0;
    // Read at once between two calls of the callback.
    std::size_t step_bytes = std::size_t{1} << 20;
    LoadCallback progress = nullptr;
    void* context = nullptr;
};

}  // namespace ouro
