// What is touched every tick lies in columns that vectors run over without a remainder; what is seldom
// touched lies packed until it is.
#include <ouro/memory/collections/compressed_sparse_array.hpp>
#include <ouro/memory/collections/soa_block.hpp>
#include <ouro/memory/frame_allocator.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>

struct Biography {
    std::uint32_t born_tick, mother, kind, children;
};
using Creatures = ouro::SoaBlock<float, double>;  // height, speed

// Whole vectors of both columns, padding included: one loop, no special case at the end.
void rise(Creatures& creatures) {
    float* const heights = std::assume_aligned<ouro::kSimdBytes>(creatures.padded_column<float>().data());
    const double* const speeds =
        std::assume_aligned<ouro::kSimdBytes>(creatures.padded_column<double>().data());
    const std::size_t count = creatures.padded_size();
    for (std::size_t i = 0; i < count; ++i)
        heights[i] += static_cast<float>(speeds[i] * 0.5);
}

int main() {
    auto memory = ouro::FrameAllocator::create({.max_bytes = std::size_t{64} << 20});
    if (!memory) return 1;
    Creatures creatures(*memory);
    auto biographies = ouro::CompressedSparseArray<Biography>::create(*memory, {.max_raw_chunks = 4});
    if (!biographies) return 1;
    for (std::uint32_t i = 0; i < 50'000; ++i) {
        if (!creatures.push(0, 2)) return 1;
        if (biographies->set(i, {1000 + i, i / 8, 3, 0}) != ouro::Status::ok) return 1;
    }

    rise(creatures);
    const auto [height, speed] = creatures[49'999];
    if (!biographies->compress_all()) return 1;
    const auto stats = biographies->stats();
    const auto mother = biographies->get(40'000);
    if (!mother) return 1;
    std::printf("the last creature rose to %g; %zu KiB of biographies take %zu KiB; mother of 40000: %u\n",
                static_cast<double>(height), stats.packed_value_bytes / 1024, stats.packed_bytes / 1024,
                mother->mother);
    return height == 1 && mother->mother == 5000 && stats.packed_bytes * 4 < stats.packed_value_bytes ? 0 : 1;
}
