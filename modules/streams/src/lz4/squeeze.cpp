#include "page_packing.hpp"

#include <lz4.h>

namespace ouro::detail {
namespace {

// Less than a sixteenth is not worth the second step back.
constexpr std::size_t kGainShift = 4;
// So little has nothing in it that repeats.
constexpr std::size_t kLeastBytes = 128;

}  // namespace

std::size_t squeeze(std::span<const std::byte> packed, std::byte* squeezed) noexcept {
    if (packed.size() < kLeastBytes) return 0;
    const std::size_t wanted = packed.size() - (packed.size() >> kGainShift);
    const int written =
        LZ4_compress_default(reinterpret_cast<const char*>(packed.data()), reinterpret_cast<char*>(squeezed),
                             static_cast<int>(packed.size()), static_cast<int>(wanted));
    return written > 0 ? static_cast<std::size_t>(written) : 0;
}

bool unsqueeze(std::span<const std::byte> squeezed, std::span<std::byte> packed) noexcept {
    const int written = LZ4_decompress_safe(
        reinterpret_cast<const char*>(squeezed.data()), reinterpret_cast<char*>(packed.data()),
        static_cast<int>(squeezed.size()), static_cast<int>(packed.size()));
    return written >= 0 && static_cast<std::size_t>(written) == packed.size();
}

}  // namespace ouro::detail
